// Asynchronous training of bounded staleness: each replica updates at once, but none gets far ahead of the slowest.
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

struct ssp_options {
  std::int64_t staleness = 3;  // steps that a replica may be ahead of the slowest; 0: they keep step
  std::int64_t total_num_replicas = 1;
  std::int64_t replica = -1;  // which one this program is; -1: any that is free
  std::chrono::milliseconds worker_timeout = std::chrono::seconds(15);  // others wait so long for a silent replica
  std::string name = "ssp";                                             // the same in all programs that train together
};

// What has happened at the clocks so far.
struct ssp_counts {
  expr<std::int64_t> totals;  // [3]: steps of all replicas, how many of them had to wait, replicas there
  expr<std::int64_t> ahead;   // [16]: steps by how many they ended ahead of the slowest; the last: or more
};

namespace detail {
struct ssp_nodes {
  operation enter, leave, expire;
  expr<std::int64_t> wanted, replica;  // the number that a replica asks for, to be fed, and the one that it gets
  expr<std::int64_t> ahead;
  ssp_counts counts;
};
// Throws invalid_argument without a global step.
void check_ssp_step(const minimize_options& options);
// The clocks of a replica, whose step is that operation.
std::shared_ptr<ssp_nodes> make_ssp_nodes(const ssp_options& o, const operation& applied,
                                          const minimize_options& options, source_location where);
}  // namespace detail

// What a session does for training of bounded staleness. A value; its thread belongs to the coordinator.
class ssp_hook {
 public:
  ssp_hook(std::shared_ptr<const detail::ssp_nodes> nodes, std::chrono::milliseconds worker_timeout,
           std::int64_t replica)
      : nodes_(std::move(nodes)), worker_timeout_(worker_timeout), replica_(replica) {}

  // Requires: the session and the coordinator outlive the coordinator's threads.
  void after_create_session(session& on, coordinator& with);
  // The others wait for this replica no longer.
  void end(session& on);

 private:
  std::shared_ptr<const detail::ssp_nodes> nodes_;
  std::chrono::milliseconds worker_timeout_;
  std::int64_t replica_;  // -1: any; the same again after a recovery
};

// An optimizer around another: a replica's step applies its own gradients, and then waits until the replica is at most
// `staleness` steps ahead of the slowest. One that leaves, or is not heard of for worker_timeout while others wait, is
// waited for no longer. Every program makes it with the same name and numbers and runs its hook's after_create_session.
// For one thread at a time. Source: as of op/sync/clock_state.hpp.
template <class Optimizer>
class ssp {
 public:
  ssp(Optimizer optimizer, ssp_options options) : optimizer_(std::move(optimizer)), o_(std::move(options)) {}

  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    return optimizer_.compute_gradients(loss, variables);
  }

  // The operation of a replica's step. Needs options.global_step, beside which the clocks are kept.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options,
                            source_location where = source_location::current()) {
    detail::check_ssp_step(options);
    nodes_ = detail::make_ssp_nodes(o_, optimizer_.apply_gradients(gradients, options, where), options, where);
    return nodes_->ahead;
  }
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options,
                     source_location where = source_location::current()) {
    return detail::minimize_by(*this, loss, options, where);
  }

  // How many steps this replica was ahead of the slowest when its step ended; to be fetched along with the step, which
  // it is the end of. Requires: apply_gradients.
  expr<std::int64_t> steps_ahead() const { return nodes().ahead; }
  // Of all replicas; may be fetched at any time. Requires: apply_gradients.
  const ssp_counts& counts() const { return nodes().counts; }
  // Makes summaries of counts(): the curves NAME/steps, NAME/waits and NAME/replicas, and the histogram
  // NAME/steps_ahead. It is enough that one program calls it, the one that writes summaries. Requires: apply_gradients.
  std::vector<expr<std::string>> summaries(const summary::options& o = {},
                                           source_location where = source_location::current()) const {
    return summaries_of({.name = o_.name,
                         .totals = counts().totals,
                         .told = {"steps", "waits", "replicas"},
                         .lags = counts().ahead,
                         .lag = "steps_ahead"},
                        o, where);
  }
  // Every replica has the same hook, the chief's too.
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
