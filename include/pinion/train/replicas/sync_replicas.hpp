// Synchronous training: the gradients of several replicas make one update. Backup replicas beyond replicas_to_aggregate
// keep a slow one from holding up the others: a round takes the first gradients that come.
//
//   worker 0  gradients --push--> accumulators, one a variable, on its device
//   worker 1  gradients --push-->      |  take those that count
//   ...                                v
//        commit, wait <--advance-- chief: mean, apply, count the step
//                      barrier, beside the global step
//
// A round, step by step:
//   1. Each replica draws a ticket, computes its gradients and pushes them to the accumulator of each variable, with
//      the ticket and the step that it has seen.
//   2. It commits the ticket at the barrier, and waits there.
//   3. When enough replicas have committed, the chief takes their tickets from the barrier, and from each accumulator
//      the mean of the gradients that carry these tickets.
//   4. The wrapped optimizer applies the means, and the global step is counted.
//   5. The chief advances the barrier to the new step. That ends the wait of the replicas, which have seen it now.
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

// The options of sync_replicas. They are the same in all programs that train together, but for `replica`.
struct sync_replicas_options {
  // The number of replicas whose gradients make one update.
  std::int64_t replicas_to_aggregate = 1;
  // The number of replicas that train. Those beyond replicas_to_aggregate are backups; 0: as many as are aggregated.
  std::int64_t total_num_replicas = 0;
  // The number of this program's replica; -1: any that is free.
  std::int64_t replica = -1;
  // A round waits this long for a replica that is not heard of, and then goes on without it. It goes on at once without
  // one whose task is stopped or lost.
  std::chrono::milliseconds worker_timeout = std::chrono::seconds(15);
  // true: applies the sum of the gradients; false: their mean.
  bool sum_gradients = false;
  // The name of the barrier on the cluster.
  std::string name = "sync_replicas";
};

// Counters of the barrier, as expressions that may be fetched at any time.
struct sync_replicas_counts {
  // [4]: steps of replicas that counted, steps that were dropped, updates made, replicas that are there.
  expr<std::int64_t> totals;
  // [16]: how many steps were 0, 1, 2, ... updates late; the last element counts 15 and more.
  expr<std::int64_t> staleness;
};

class sync_replicas_hook;

namespace detail {

// The nodes that a program needs to train in step with others.
struct sync_nodes {
  operation train, enter, leave;  // run by each replica
  replica_entry entry;
  expr<std::int64_t> ended;             // 1 if it has entered a training that is over
  operation start, update, wake, stop;  // run by the chief
  sync_replicas_counts counts;
};

}  // namespace detail

// Wraps an optimizer for synchronous training. The replicas push their gradients; once a step, a thread of the chief
// applies the mean of replicas_to_aggregate of them. The gradients of one replica's step count all or not at all.
// Gradients that come late are dropped and counted, and their replica goes on with the new step. A replica that leaves,
// whose task is stopped or lost, or that is not heard of for worker_timeout while others wait, lowers the number that a
// step waits for, until it comes back. A replica that has waited for a second says for which tasks, in the log
// (set_log).
//
// Every program makes it with the same name and numbers, and each runs its hook's after_create_session, the chief's
// with is_chief. It owns the wrapped optimizer and is used by one thread at a time. When the chief ends training, steps
// of the other replicas fail with out_of_range, the end of the input. If ps tasks outlive a training, a replica of the
// next one waits worker_timeout for its chief; after that, training has ended for it too. Rules: TensorFlow 1.15,
// sync_replicas_optimizer.py, but for the decision once a step, which is made for whole steps of replicas.
//
//   tr::sync_replicas sync{tr::momentum{{.learning_rate = .01f}},
//                          {.replicas_to_aggregate = 3, .total_num_replicas = 4}};
//   auto train = sync.minimize(loss, {.global_step = step});
//   tr::monitored_training_session sess{{.master = server.target(), .is_chief = task == 0,
//                                        .hooks = {sync.make_session_run_hook(task == 0)}}};
template <class Optimizer>
class sync_replicas {
 public:
  // Builds nothing yet.
  sync_replicas(Optimizer optimizer, sync_replicas_options options)
      : optimizer_(std::move(optimizer)), o_(std::move(options)) {
    if (o_.total_num_replicas == 0) o_.total_num_replicas = o_.replicas_to_aggregate;
  }

  // The gradients as the wrapped optimizer computes them.
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    return optimizer_.compute_gradients(loss, variables);
  }

  // Builds the operation of a replica's step: it pushes the gradients and waits for the update. Each update increments
  // options.global_step. Throws invalid_argument without a global step or without gradients.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options,
                            source_location where = source_location::current());

  // Calls compute_gradients and then apply_gradients, in the graph of the loss.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options,
                     source_location where = source_location::current()) {
    return detail::minimize_by(*this, loss, options, where);
  }

  // The counters of the barrier. Throws failed_precondition before apply_gradients.
  const sync_replicas_counts& counts() const { return nodes().counts; }
  // Makes summaries of counts(): the curves NAME/accepted, NAME/dropped, NAME/updates and NAME/replicas, and the
  // histogram NAME/staleness of how late the replicas' steps came. All programs count at one barrier, so one program's
  // summaries are enough: the one that writes summaries. Throws failed_precondition before apply_gradients.
  std::vector<expr<std::string>> summaries(const summary::options& o = {},
                                           source_location where = source_location::current()) const {
    return summaries_of({.name = o_.name,
                         .totals = counts().totals,
                         .told = {"accepted", "dropped", "updates", "replicas"},
                         .lags = counts().staleness,
                         .lag = "staleness"},
                        o, where);
  }
  // Makes the hook that a monitored session needs. It joins the other replicas when a session is made and leaves them
  // at the end; the chief's hook also makes the updates. Throws failed_precondition before apply_gradients.
  sync_replicas_hook make_session_run_hook(bool is_chief) const;

 private:
  const detail::sync_nodes& nodes() const {
    if (!nodes_) throw error(errc::failed_precondition, "sync_replicas: apply_gradients or minimize comes first");
    return *nodes_;
  }
  Optimizer optimizer_;
  sync_replicas_options o_;
  std::shared_ptr<detail::sync_nodes> nodes_;
};

// The hook of sync_replicas. A value that shares the nodes; the threads that it starts belong to the coordinator.
class sync_replicas_hook {
 public:
  sync_replicas_hook(std::shared_ptr<const detail::sync_nodes> nodes, bool is_chief,
                     std::chrono::milliseconds worker_timeout, std::int64_t replica)
      : nodes_(std::move(nodes)), is_chief_(is_chief), worker_timeout_(worker_timeout), replica_(replica) {}

  // Enters the training; for the chief it also starts the thread that makes the updates. Requires: the variables are
  // initialised; the session and the coordinator outlive the coordinator's threads.
  void after_create_session(session& on, coordinator& with);
  // A worker leaves. If the chief leaves, training ends: steps of the others fail with out_of_range.
  void end(session& on);

 private:
  // Enters the barrier. If that belongs to a training that is over, the chief of this one may still be on its way, so
  // it tries again for worker_timeout.
  void enter(session& on, const coordinator& with, const std::string& task);

  std::shared_ptr<const detail::sync_nodes> nodes_;
  bool is_chief_;
  std::chrono::milliseconds worker_timeout_;
  std::int64_t replica_;  // -1: any; after a recovery it asks for the number that it had
};

template <class Optimizer>
sync_replicas_hook sync_replicas<Optimizer>::make_session_run_hook(bool is_chief) const {
  (void)nodes();
  return {nodes_, is_chief, o_.worker_timeout, o_.replica};
}

namespace detail {

// Builds the nodes of a program in two halves, between which the wrapped optimizer builds its update.
class sync_nodes_in_the_making {
 public:
  sync_nodes_in_the_making(const sync_replicas_options& o, const std::vector<gradient_of_variable>& gradients,
                           const minimize_options& options, source_location where);
  ~sync_nodes_in_the_making();
  // The means of the gradients that count in a round, for the wrapped optimizer to apply.
  const std::vector<gradient_of_variable>& means() const;
  // Builds the second half, behind the update.
  std::shared_ptr<sync_nodes> finish(const operation& updated);

 private:
  struct state;
  const std::shared_ptr<state> state_;
};

}  // namespace detail

template <class Optimizer>
operation sync_replicas<Optimizer>::apply_gradients(const std::vector<gradient_of_variable>& gradients,
                                                    const minimize_options& options, source_location where) {
  detail::sync_nodes_in_the_making making(o_, gradients, options, where);
  minimize_options counting = options;
  counting.count_every_step = true;
  nodes_ = making.finish(optimizer_.apply_gradients(making.means(), counting, where));
  return nodes_->train;
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/replicas/sync_replicas.ipp>
#endif
