// Bodies of <pinion/runtime/check/checking_kernel.hpp>.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <pinion/op/catalogue.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/opkit/definition.hpp>
#include <pinion/runtime/check/checking_kernel.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// The number of first inputs that are references, which a node writes.
inline std::size_t written_by(const kernel_setup& setup) {
  const auto states = static_cast<std::size_t>(states_of(definition_of(setup.node.op), setup.node));
  std::size_t n = 0;
  while (n < states && setup.input(static_cast<int>(n)).reference) ++n;
  return n;
}

}  // namespace detail

PINION_DECL std::shared_ptr<kernel> checking_kernel::around(std::shared_ptr<kernel> inner, const kernel_setup& setup) {
  return has_results(setup) ? std::make_shared<checking_kernel>(std::move(inner), setup) : std::move(inner);
}

PINION_DECL bool checking_kernel::has_results(const kernel_setup& setup) {
  for (std::size_t i = 0; i < detail::written_by(setup); ++i)
    if (has_nan(setup.input(static_cast<int>(i)).dtype)) return true;
  return std::any_of(setup.node.outputs.begin(), setup.node.outputs.end(),
                     [](const output_type& t) { return !t.reference && !t.resource && has_nan(t.dtype); });
}

PINION_DECL checking_kernel::checking_kernel(std::shared_ptr<kernel> inner, const kernel_setup& setup)
    : inner_(std::move(inner)),
      graph_(setup.graph),
      node_(setup.node),
      on_stream_(setup.device.stream() != nullptr),
      variables_(setup.node.inputs.size()),
      written_(detail::written_by(setup)) {
  for (int i = 0; i < static_cast<int>(variables_.size()); ++i) {
    if (!setup.input(i).reference || setup.referenced(i).op != op::variable::name) continue;
    auto state = state::find_variable(setup.services, setup.referenced(i));
    if (has_nan(state->dtype())) variables_[static_cast<std::size_t>(i)] = std::move(state);
  }
}

PINION_DECL void checking_kernel::run(kernel_context& c) {
  const values_ref v = before(c);
  inner_->run(c);
  add_results(*v, c);
  taken_and_judged(*v).value();
}

PINION_DECL void checking_kernel::start(kernel_context& c, ended done) {
  const values_ref v = before(c);
  auto then = [this, &c, v, done = std::move(done)](outcome<> how) {
    if (how) how = outcome_of([&] { add_results(*v, c); });
    if (!how) return *v = {}, done(std::move(how));
    if (!on_stream_) return done(taken_and_judged(*v));
    judge_on_host(*c.device, v, done);
  };
  if (inner_->blocking()) return inner_->start(c, std::move(then));
  then(outcome_of([&] { inner_->run(c); }));
}

PINION_DECL checking_kernel::values_ref checking_kernel::before(const kernel_context& c) const {
  auto v = std::make_shared<node_values>();
  v->inputs.assign(c.inputs.begin(), c.inputs.end());
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i] && variables_[i]->initialised()) v->inputs[i] = variables_[i]->read();
  return v;
}

PINION_DECL void checking_kernel::add_results(node_values& v, const kernel_context& c) const {
  v.outputs.assign(c.outputs.begin(), c.outputs.end());
  for (std::size_t o = 0; o < v.outputs.size(); ++o)
    if (!c.wants(static_cast<int>(o)) || !has_nan(v.outputs[o].dtype())) v.outputs[o] = {};
  v.written.resize(written_);
  for (std::size_t i = 0; i < written_; ++i)
    if (variables_[i] && variables_[i]->initialised()) v.written[i] = variables_[i]->read();
}

PINION_DECL outcome<> checking_kernel::taken_and_judged(node_values& taken) const {
  const node_values v = std::exchange(taken, {});
  return outcome_of([&] {
    if (!has_bad_result(v)) return;
    if (auto e = bad_value(graph_, node_, v)) throw error(std::move(*e));
  });
}

PINION_DECL void checking_kernel::judge_on_host(devices::device& from, const values_ref& v, ended done) const {
  auto judge = [this, v, done](outcome<> how) {
    if (how) return done(taken_and_judged(*v));
    *v = {};
    done(std::move(how));
  };
  auto bring_inputs = [&from, v, judge](outcome<> how) {
    if (!how || !has_bad_result(*v)) return judge(std::move(how));
    bring(from, {v, &v->inputs}, 0, judge);
  };
  bring(from, {v, &v->outputs}, 0, [&from, v, bring_inputs](outcome<> how) {
    if (!how) return bring_inputs(std::move(how));
    bring(from, {v, &v->written}, 0, bring_inputs);
  });
}

PINION_DECL void checking_kernel::bring(devices::device& from, std::shared_ptr<std::vector<any_tensor>> values,
                                        std::size_t at, ended done) {
  std::vector<any_tensor>& all = *values;
  while (at < all.size() && (!all[at] || all[at].on_host())) ++at;
  if (at == all.size()) return done({});
  const auto begun = outcome_of([&] {
    from.to_host(all[at], [&from, values, at, done](outcome<any_tensor> copied) {
      if (!copied) return done(copied.failure());
      (*values)[at] = std::move(copied).value();
      bring(from, values, at + 1, done);
    });
  });
  if (!begun) done(begun);
}

}}}  // namespace pinion::v0::runtime
