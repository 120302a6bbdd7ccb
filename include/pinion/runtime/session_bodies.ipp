// Bodies of <pinion/runtime/session_bodies.hpp>.
#pragma once

#include <string>

#include <pinion/graph/traverse.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/session_bodies.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// A compiled body. Its feeds are on the device of the calling node.
class body_step final : public nested_step {
 public:
  template <class... A>
  body_step(std::size_t results, bool repeats, A&&... a)
      : compiled_(std::forward<A>(a)...), results_(results), repeats_(repeats) {}

  bool runs_in_place() const override { return compiled_.runs_in_order(); }

  void run(kernel_context& caller, std::span<any_tensor> arguments, std::span<any_tensor> results) override {
    local_rendezvous meet;
    step_state state(meet, caller.step);
    state.within = caller.watch;
    state.feeds = arguments;
    state.fetches = results;
    state.tracer = caller.tracer;
    if (caller.watch) state.deadline = caller.watch->time_limit();
    compiled_.run(state);
    outcome<>(state.failure()).value();
    if (state.failed()) throw given_up();
  }

  std::unique_ptr<bound_body> bind(std::span<const cell> arguments) override { return compiled_.bind(arguments); }

  void start(kernel_context& caller, std::vector<any_tensor> arguments, ended done) override {
    const auto* const around = dynamic_cast<const step_state*>(caller.watch);
    auto r = std::make_shared<one_run>(caller.step, around ? around->line : 0);
    r->feeds = std::move(arguments);
    r->fetches.resize(results_);
    r->state.feeds = r->feeds;
    r->state.fetches = r->fetches;
    r->state.tracer = caller.tracer;
    if (caller.watch) r->state.deadline = caller.watch->time_limit();
    if (caller.cancellation) {
      r->cancellation = caller.cancellation;
      r->subscription = caller.cancellation->subscribe([weak = std::weak_ptr(r), around] {
        const shared_error why = around ? around->failure() : nullptr;
        if (const auto alive = weak.lock()) alive->state.fail(why ? *why : given_up());
      });
      if (r->subscription == 0) r->state.fail(given_up());
    }
    const auto finish = [r, repeats = repeats_, done = std::move(done)] {
      if (r->cancellation) r->cancellation->unsubscribe(r->subscription);
      if (r->cancellation && !repeats) static_cast<void>(outcome_of([&] { hold_taken(r); }));
      done(outcome<>(r->state.failure()).then([&] { return std::move(r->fetches); }));
    };
    compiled_.start(r->state, finish);
  }

 private:
  struct one_run {
    one_run(std::int64_t step, std::uint64_t line) : state(meet, step, line) {}
    std::vector<any_tensor> feeds, fetches;
    local_rendezvous meet;
    step_state state;
    pinion::cancellation* cancellation = nullptr;
    std::uint64_t subscription = 0;
  };
  // Elements that the body has taken from queues go back where the step around it is given up. Those of an iteration
  // that has ended are used up, since a loop may take any number of them.
  static void hold_taken(const std::shared_ptr<one_run>& r) {
    if (!r->state.cancellation.is_heard()) return;
    const auto cancel = [r] {
      r->state.cancellation.cancel(r->cancellation->given_up() ? cancellation::reason::given_up
                                                               : cancellation::reason::failed);
    };
    r->feeds.clear();
    if (r->cancellation->subscribe(cancel) == 0) cancel();
  }
  static error given_up() { return error(errc::cancelled, "the step was given up"); }

  compiled_step compiled_;
  const std::size_t results_;
  const bool repeats_;  // is it a part of a loop?
};

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::shared_ptr<nested_step> session_bodies::compile(const body& b, const std::vector<output>& results,
                                                                 const node& caller, const devices::device& on) {
  const step_signature signature{b.arguments, results, b.targets, {}, check_values_};
  const placement placed = place(b, signature, caller, on);
  int home = 0;
  while (placed.devices()[static_cast<std::size_t>(home)].name != on.name()) ++home;
  return std::make_shared<detail::body_step>(results.size(), caller.op == op::loop::name,
                                             cut_by_device(b.view(), placed, signature, home), b.view(), task_,
                                             *kernels_, shared_from_this());
}

PINION_DECL placement session_bodies::place(const body& b, const step_signature& s, const node& caller,
                                            const devices::device& on) const {
  const graph_view g = b.view();
  placement_problem problem{.graph = g,
                            .nodes = ancestors(g, s.fetches, s.targets, s.feeds),
                            .devices = task_.device_infos(),
                            .home = on.spec().with_type("").with_index(-1),
                            .soft = soft_,
                            .first = on.spec()};
  for (const node_id id : problem.nodes)  // a variable keeps its first device
    if (g[id].op == op::variable::name)
      if (const std::string at = state::find_variable(task_.services, g[id])->device(); !at.empty())
        problem.kept.emplace(id, at);
  try {
    return simple_placer{}(problem);
  } catch (...) {
    const error e = current_error();
    throw error(e.code(), "the body of '" + caller.name + "' stays within its task: " + e.sentence())
        .at_node(e.node(), "", e.location());
  }
}

}}}  // namespace pinion::v0::runtime
