// Synchronous training: one update for the gradients of several replicas.
//
//   worker 0  gradients --push--> accumulators, one a variable, on its device
//   worker 1  gradients --push-->      |  take those that count
//   ...                                v
//        commit, wait <--advance-- chief: mean, apply, count the step
//                      barrier, beside the global step
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
#include <pinion/train/replicas/replica_summaries.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct sync_replicas_options {
  std::int64_t replicas_to_aggregate = 1;
  std::int64_t total_num_replicas = 0;  // those beyond replicas_to_aggregate are backups; 0: as many as are aggregated
  std::int64_t replica = -1;            // which one this program is; -1: any that is free
  std::chrono::milliseconds worker_timeout = std::chrono::seconds(15);  // a round waits so long for a silent replica
  bool sum_gradients = false;                                           // instead of their mean
  std::string name = "sync_replicas";                                   // the same in all programs that train together
};

// What has happened at a barrier so far.
struct sync_replicas_counts {
  expr<std::int64_t> totals;     // [4]: steps of replicas that counted, that were dropped, updates made, replicas there
  expr<std::int64_t> staleness;  // [16]: steps of replicas by how many updates late they were; the last: or more
};

class sync_replicas_hook;

namespace detail {

// The nodes of a program that trains in step with others.
struct sync_nodes {
  operation train, enter, leave;       // of each replica
  expr<std::int64_t> wanted, replica;  // the number that it asks for, to be fed when it enters, and the one it has then
  expr<std::int64_t> ended;            // 1 where it has entered a training that is over
  operation start, update, wake, stop;  // of the chief
  operation expire;
  sync_replicas_counts counts;
};

}  // namespace detail

// An optimizer around another: replicas push their gradients, and once a step the mean of replicas_to_aggregate of them
// is applied, by a thread of the chief. Which replicas count is decided once a step: all gradients of a replica's step
// count, or none; those that come late are dropped and counted, and their replica goes on with the new step. A replica
// that leaves, or is not heard of for worker_timeout while others wait, lowers the number that a step waits for.
// Every program makes it, with the same name and numbers; each runs its hook's after_create_session, the chief's with
// is_chief. Where ps tasks outlive a training, a replica of the next one waits worker_timeout for its chief; then
// training has ended for it as well. For one thread at a time. Rules: TensorFlow 1.15, sync_replicas_optimizer.py, but
// for what is said above.
template <class Optimizer>
class sync_replicas {
 public:
  sync_replicas(Optimizer optimizer, sync_replicas_options options)
      : optimizer_(std::move(optimizer)), o_(std::move(options)) {
    if (o_.total_num_replicas == 0) o_.total_num_replicas = o_.replicas_to_aggregate;
  }

  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    return optimizer_.compute_gradients(loss, variables);
  }

  // The operation of a replica's step: it pushes the gradients and waits for the update. Counts options.global_step,
  // which it needs.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options,
                            source_location where = source_location::current());

  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options,
                     source_location where = source_location::current()) {
    return detail::minimize_by(*this, loss, options, where);
  }

  // Requires: apply_gradients.
  const sync_replicas_counts& counts() const { return nodes().counts; }
  // Makes summaries of counts(): the curves NAME/accepted, NAME/dropped, NAME/updates and NAME/replicas, and the
  // histogram NAME/staleness of how late steps of replicas came. All programs count at one barrier, so it is enough
  // that one calls it, the one that writes summaries. Requires: apply_gradients.
  std::vector<expr<std::string>> summaries(const summary::options& o = {},
                                           source_location where = source_location::current()) const {
    return summaries_of({.name = o_.name,
                         .totals = counts().totals,
                         .told = {"accepted", "dropped", "updates", "replicas"},
                         .lags = counts().staleness,
                         .lag = "staleness"},
                        o, where);
  }
  // Joins the others when a session is made, and leaves them at the end; of the chief, it makes the updates.
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

// What a session does for synchronous training. A value; its threads belong to the coordinator.
class sync_replicas_hook {
 public:
  sync_replicas_hook(std::shared_ptr<const detail::sync_nodes> nodes, bool is_chief,
                     std::chrono::milliseconds worker_timeout, std::int64_t replica)
      : nodes_(std::move(nodes)), is_chief_(is_chief), worker_timeout_(worker_timeout), replica_(replica) {}

  // Requires: variables are initialised; the session and the coordinator outlive the coordinator's threads.
  void after_create_session(session& on, coordinator& with);
  // A worker leaves; where the chief does, training ends: steps of the others end with out_of_range.
  void end(session& on);

 private:
  // A training that is over may be one before this, whose chief is yet to come.
  void enter(session& on, const coordinator& with);

  std::shared_ptr<const detail::sync_nodes> nodes_;
  bool is_chief_;
  std::chrono::milliseconds worker_timeout_;
  std::int64_t replica_;  // -1: any; the same again after a recovery
};

template <class Optimizer>
sync_replicas_hook sync_replicas<Optimizer>::make_session_run_hook(bool is_chief) const {
  (void)nodes();
  return {nodes_, is_chief, o_.worker_timeout, o_.replica};
}

namespace detail {

// The nodes of a program around the update of another optimizer, which stands between the two halves.
class sync_nodes_in_the_making {
 public:
  sync_nodes_in_the_making(const sync_replicas_options& o, const std::vector<gradient_of_variable>& gradients,
                           const minimize_options& options, source_location where);
  ~sync_nodes_in_the_making();
  // The means of the gradients that count in a round.
  const std::vector<gradient_of_variable>& means() const;
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
  nodes_ = making.finish(optimizer_.apply_gradients(making.means(), options, where));
  return nodes_->train;
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/replicas/sync_replicas.ipp>
#endif
