// Bodies of <pinion/runtime/step/segment.hpp>.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <pinion/runtime/step/segment.hpp>

#if PINION_HAS_CUDA
#include <pinion/op/source/cuda_kernels.hpp>
#include <pinion/op/variable/cuda_kernels.hpp>
#endif

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

inline void copy_bytes(kernel_context& c, void* to, const void* from, std::size_t bytes) {
#if PINION_HAS_CUDA
  cuda::copy_bytes(c.device->stream()->native(), to, from, bytes);
#else
  (void)c, (void)to, (void)from, (void)bytes;
#endif
}
inline void fill(kernel_context& c, const any_tensor& places, std::int64_t value) {
#if PINION_HAS_CUDA
  cuda::fill(c.device->stream()->native(), places.data<std::int64_t>(), places.count(), value);
#else
  (void)c, (void)places, (void)value;
#endif
}

}  // namespace detail

// Gives kernels that are recorded their places for wrong values.
class segment::recorder final : public step_watch {
 public:
  explicit recorder(step_watch& step, allocator& memory) : step_(step), places(dtype::int64, {most, 2}, memory) {}

  bool failed() const override { return step_.failed(); }
  void fail(const error& why) override { step_.fail(why); }
  cuda::first_wrong* expect_values(devices::device&, describe_wrong describe) override {
    if (static_cast<std::int64_t>(described.size()) == most)
      throw error(errc::unimplemented, "more kernels than a recording has places for look for wrong values");
    described.push_back(std::move(describe));
    return static_cast<cuda::first_wrong*>(places.raw()) + (described.size() - 1);
  }
  cuda::wrong_places wrong_so_far(devices::device&) override {
    return {static_cast<const cuda::first_wrong*>(places.raw()), described.size()};
  }

 private:
  static constexpr std::int64_t most = 64;
  step_watch& step_;

 public:
  const any_tensor places;
  std::vector<describe_wrong> described;
};

struct segment::recording {
  struct output {
    dtype type;
    pinion::shape shape;
    const void* at;
  };
  std::shared_ptr<replay_memory> memory;
  std::vector<any_tensor> inputs;
  any_tensor places;
  std::vector<step_watch::describe_wrong> described;
  std::vector<output> outputs;
  std::vector<const void*> variables;
  std::unique_ptr<devices::recorded_work> work;
};

PINION_DECL segment::segment(std::vector<member> members, int inputs, std::vector<int> outputs,
                             std::vector<std::shared_ptr<state::variable>> variables)
    : members_(std::move(members)),
      inputs_(inputs),
      outputs_(std::move(outputs)),
      variables_(std::move(variables)),
      values_(inputs) {
  for (const member& m : members_) values_ = std::max(values_, m.first_output + m.outputs);
}

PINION_DECL segment::~segment() = default;

PINION_DECL void segment::run(kernel_context& c) {
  if (c.tracer) return launch_all(c);
  std::lock_guard hold(mutex_);
  bool is_new = false;
  seen_inputs* const seen = entry_of(c.inputs, is_new);
  // The first run prepares what kernels make once; the second is recorded.
  if (!seen || is_new || seen->is_refused) return launch_all(c);
  if (!seen->made) {
    seen->made = record(c);
    seen->is_refused = !seen->made;
    return;
  }
  std::optional<state::writing> variables;
  try {
    variables.emplace(variables_);
  } catch (const error&) {  // a variable without a value, as its kernel will say
  }
  if (variables && is_in_place(*seen->made, *variables)) return replay(c, *seen->made);
  variables.reset();
  launch_all(c);
}

PINION_DECL segment::counts segment::made() const {
  std::lock_guard hold(mutex_);
  return counts_;
}

PINION_DECL void segment::launch_all(kernel_context& c) {
  auto outputs = launch(c, c.inputs, nullptr, c.watch);
  std::move(outputs.begin(), outputs.end(), c.outputs.begin());
}

PINION_DECL std::vector<any_tensor> segment::launch(kernel_context& c, std::span<any_tensor> inputs, allocator* memory,
                                                    step_watch* watch) {
  std::vector<any_tensor> values(static_cast<std::size_t>(values_));
  std::move(inputs.begin(), inputs.end(), values.begin());
  kernel_context of_members = c;
  of_members.memory = memory;
  of_members.watch = watch;
  for (const member& m : members_) run_member(m, of_members, values);
  std::vector<any_tensor> outputs;
  for (const int o : outputs_) outputs.push_back(values[static_cast<std::size_t>(o)]);
  return outputs;
}

PINION_DECL void segment::run_member(const member& m, kernel_context& c, std::vector<any_tensor>& values) {
  std::vector<any_tensor> inputs;
  for (const int in : m.inputs) inputs.push_back(values[static_cast<std::size_t>(in)]);
  for (const int end : m.ends) values[static_cast<std::size_t>(end)] = {};
  c.node = m.node;
  c.inputs = inputs;
  c.outputs = {values.data() + m.first_output, static_cast<std::size_t>(m.outputs)};
  c.wanted = m.wanted;
  try {
    m.kernel->run(c);
  } catch (...) {
    throw current_error().at_node(m.node->name, m.node->op, to_string(m.node->where)).on_device(c.device->name());
  }
  for (int o = 0; o < m.outputs; ++o)
    if (!m.wanted[static_cast<std::size_t>(o)]) c.outputs[static_cast<std::size_t>(o)] = {};
}

PINION_DECL segment::seen_inputs* segment::entry_of(std::span<const any_tensor> inputs, bool& is_new) {
  const auto is_of = [&](const seen_inputs& one) {
    return std::equal(inputs.begin(), inputs.end(), one.types.begin(), one.types.end(),
                      [](const any_tensor& t, const auto& type) {
                        return t.dtype() == type.first && (t.empty() || t.shape() == type.second);
                      });
  };
  const auto at = std::find_if(seen_.begin(), seen_.end(), is_of);
  if (at != seen_.end()) return &*at;
  if (seen_.size() == most_kinds) return nullptr;
  is_new = true;
  seen_.emplace_back();
  for (const any_tensor& t : inputs) seen_.back().types.emplace_back(t.dtype(), t.shape());
  return &seen_.back();
}

PINION_DECL std::unique_ptr<segment::recording> segment::record(kernel_context& c) {
  auto r = std::make_unique<recording>();
  r->memory = std::make_shared<replay_memory>(c.device->memory());
  for (const any_tensor& in : c.inputs)
    r->inputs.push_back(in.empty() ? any_tensor() : any_tensor(in.dtype(), in.shape(), *r->memory));
  recorder watch(*c.watch, *r->memory);
  const auto addresses = [&] {
    std::vector<const void*> all;
    const state::writing variables(variables_);
    for (std::size_t i = 0; i < variables_.size(); ++i) all.push_back(variables.old_value(i).raw());
    return all;
  };
  try {
    r->variables = addresses();
  } catch (const error&) {
    return launch_all(c), nullptr;
  }
  if (!c.device->stream()->begin_recording()) return launch_all(c), nullptr;
  std::vector<any_tensor> outputs;
  try {
    detail::fill(c, watch.places, -1);
    auto inputs = r->inputs;
    outputs = launch(c, inputs, r->memory.get(), &watch);
    r->work = c.device->stream()->end_recording();
  } catch (...) {  // if it is no fault of the recording, the kernels say it again
    c.device->stream()->end_recording();
    outputs.clear();
  }
  if (!r->work) return launch_all(c), nullptr;
  for (const any_tensor& out : outputs) r->outputs.push_back({out.dtype(), out.shape(), out ? out.raw() : nullptr});
  outputs.clear();
  r->places = watch.places;
  r->described = std::move(watch.described);
  ++counts_.recordings;
  replay(c, *r);
  // An update that found its variable held by somebody else has given it other memory.
  return addresses() == r->variables ? std::move(r) : nullptr;
}

PINION_DECL bool segment::is_in_place(const recording& r, const state::writing& variables) const {
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (variables.old_value(i).raw() != r.variables[i] || !variables.old_value(i).unique()) return false;
  return true;
}

PINION_DECL void segment::replay(kernel_context& c, recording& r) {
  for (std::size_t i = 0; i < r.inputs.size(); ++i)
    if (r.inputs[i]) detail::copy_bytes(c, r.inputs[i].raw(), c.inputs[i].raw(), c.inputs[i].bytes());
  r.work->enqueue();
  for (std::size_t o = 0; o < r.outputs.size(); ++o) {
    const recording::output& out = r.outputs[o];
    if (!out.at) continue;
    any_tensor& to = c.allocate(static_cast<int>(o), out.type, out.shape);
    detail::copy_bytes(c, to.raw(), out.at, to.bytes());
  }
  if (!r.described.empty()) {
    const any_tensor places = c.scratch(r.places.dtype(), {static_cast<std::int64_t>(r.described.size()), 2});
    detail::copy_bytes(c, places.raw(), r.places.raw(), places.bytes());
    c.watch->add_expected(*c.device, places, r.described);
  }
  ++counts_.replays;
}

}}}  // namespace pinion::v0::runtime
