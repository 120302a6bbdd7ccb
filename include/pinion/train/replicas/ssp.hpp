// Asynchronous training with bounded staleness (SSP): each replica updates the variables at once, but none gets more
// than a few steps ahead of the slowest.
//
//   worker 0  apply ── tick ─┐
//   worker 1  apply ── tick ─┼── clock of each replica, beside the global step: a tick waits for the slowest
//   worker 2  apply ── tick ─┘
//
//   tr::ssp rule{tr::momentum{{.learning_rate = .01f}}, {.staleness = 3, .total_num_replicas = 4}};
//   auto train = rule.minimize(loss, {.global_step = step});
//   tr::monitored_training_session sess{{.master = server.target(), .is_chief = task == 0,
//                                        .hooks = {rule.make_session_run_hook(task == 0)}}};
//
// The steps of a replica:
//   1. It enters: it asks for a number, and its clock begins no further back than that of the slowest.
//   2. Each of its steps applies the gradients at once, then ticks: the clock goes on by one, and the tick ends when
//      the replica is at most `staleness` steps ahead of the slowest.
//   3. It leaves at the end. A thread of each replica looks now and then for others that have fallen silent, and writes
//      to the log which tasks its replica waits for, and which were dropped.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/replicas/replica_entry.hpp>
#include <pinion/train/replicas/replica_summaries.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of ssp. They are the same in all programs that train together, but for `replica`.
struct ssp_options {
  // The most steps that a replica may be ahead of the slowest; 0: they make each step together.
  std::int64_t staleness = 3;
  // The number of replicas that train together.
  std::int64_t total_num_replicas = 1;
  // The number of this program's replica; -1: any that is free.
  std::int64_t replica = -1;
  // The others wait this long for a replica that is not heard of, and then go on without it. They go on at once without
  // one whose task is stopped or lost.
  std::chrono::milliseconds worker_timeout = std::chrono::seconds(15);
  // The name of the clocks on the cluster.
  std::string name = "ssp";
};

// Counters of the clocks, as expressions that may be fetched at any time.
struct ssp_counts {
  // [3]: steps of all replicas, how many of these had to wait, replicas that are there.
  expr<std::int64_t> totals;
  // [16]: how many steps ended 0, 1, 2, ... steps ahead of the slowest; the last element counts 15 and more.
  expr<std::int64_t> ahead;
};

namespace detail {
// The nodes of a replica.
struct ssp_nodes {
  operation enter, leave;
  replica_entry entry;
  expr<std::int64_t> ahead;
  ssp_counts counts;
};
// Throws invalid_argument if the options have no global step.
void check_ssp_step(const minimize_options& options);
// Makes the nodes of a replica's clock, around the operation `applied` that is its step.
std::shared_ptr<ssp_nodes> make_ssp_nodes(const ssp_options& o, const operation& applied,
                                          const minimize_options& options, source_location where);
}  // namespace detail

// The hook of ssp: enters the clocks when a session is made, leaves them at the end, and watches for replicas that are
// not heard of any more. A value that shares the nodes; the thread that it starts belongs to the coordinator.
class ssp_hook {
 public:
  ssp_hook(std::shared_ptr<const detail::ssp_nodes> nodes, std::chrono::milliseconds worker_timeout,
           std::int64_t replica)
      : nodes_(std::move(nodes)), worker_timeout_(worker_timeout), replica_(replica) {}

  // Gets a replica's number and starts the thread. Requires: the session and the coordinator outlive the coordinator's
  // threads.
  void after_create_session(session& on, coordinator& with);
  // Leaves the clocks, so that the others do not wait for this replica any more.
  void end(session& on);

 private:
  std::shared_ptr<const detail::ssp_nodes> nodes_;
  std::chrono::milliseconds worker_timeout_;
  std::int64_t replica_;  // -1: any; after a recovery it asks for the number that it had
};

// Wraps an optimizer for training with bounded staleness. A replica's step applies its own gradients, and then waits
// until the replica is at most `staleness` steps ahead of the slowest. A replica that has left, whose task is stopped
// or lost, or that is not heard of for worker_timeout while others wait, is not waited for any more. If it comes back,
// it goes on where the slowest is. A replica that has waited for a second says for which tasks, in the log (set_log).
//
// Every program makes it with the same name and numbers, and runs its hook's after_create_session. It owns the wrapped
// optimizer and is used by one thread at a time. Errors of a step are those of the optimizer's step; a replica number
// that is not below total_num_replicas is invalid_argument. Source: Ho and others, "More effective distributed ML via a
// stale synchronous parallel parameter server", NIPS 2013 (state/clock.hpp).
template <class Optimizer>
class ssp {
 public:
  // Builds nothing yet.
  ssp(Optimizer optimizer, ssp_options options) : optimizer_(std::move(optimizer)), o_(std::move(options)) {}

  // The gradients as the wrapped optimizer computes them.
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    return optimizer_.compute_gradients(loss, variables);
  }

  // Builds the operation of a replica's step. options.global_step is required, since the clocks are kept beside it:
  // without one it throws invalid_argument.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options,
                            source_location where = source_location::current()) {
    detail::check_ssp_step(options);
    nodes_ = detail::make_ssp_nodes(o_, optimizer_.apply_gradients(gradients, options, where), options, where);
    return nodes_->ahead;
  }
  // Calls compute_gradients and then apply_gradients, in the graph of the loss.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options,
                     source_location where = source_location::current()) {
    return detail::minimize_by(*this, loss, options, where);
  }

  // The number of steps that this replica was ahead of the slowest when its step ended. To be fetched with the step,
  // whose last node it is. Throws failed_precondition before apply_gradients.
  expr<std::int64_t> steps_ahead() const { return nodes().ahead; }
  // The counters of all replicas. Throws failed_precondition before apply_gradients.
  const ssp_counts& counts() const { return nodes().counts; }
  // Makes summaries of counts(): the curves NAME/steps, NAME/waits and NAME/replicas, and the histogram
  // NAME/steps_ahead. One program's are enough: the program that writes summaries. Throws failed_precondition before
  // apply_gradients.
  std::vector<expr<std::string>> summaries(const summary::options& o = {},
                                           source_location where = source_location::current()) const {
    return summaries_of({.name = o_.name,
                         .totals = counts().totals,
                         .told = {"steps", "waits", "replicas"},
                         .lags = counts().ahead,
                         .lag = "steps_ahead"},
                        o, where);
  }
  // Makes the hook that a monitored session needs, the same for the chief and the others. Throws failed_precondition
  // before apply_gradients.
  ssp_hook make_session_run_hook([[maybe_unused]] bool is_chief) const {
    (void)nodes();
    return {nodes_, o_.worker_timeout, o_.replica};
  }

 private:
  const detail::ssp_nodes& nodes() const {
    if (!nodes_) throw error(errc::failed_precondition, "ssp: apply_gradients or minimize comes first");
    return *nodes_;
  }
  Optimizer optimizer_;
  ssp_options o_;
  std::shared_ptr<detail::ssp_nodes> nodes_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/replicas/ssp.ipp>
#endif
