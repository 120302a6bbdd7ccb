// The part of a server that computes: it keeps the subgraphs of steps, and runs them when a master asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/worker/active_runs.hpp>
#include <pinion/distributed/worker/builders.hpp>
#include <pinion/distributed/worker/kept_steps.hpp>
#include <pinion/distributed/worker/recent_failures.hpp>
#include <pinion/distributed/worker/step_counts.hpp>
#include <pinion/distributed/worker/step_registrar.hpp>
#include <pinion/distributed/worker/unsettled_parts.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The worker of one task. Owned by a server. Thread-safe. Each callback is called once, in any thread.
class worker {
 public:
  // The pool is for callers that must not compute for long: what is light runs in their thread all the same.
  enum class begin_in { this_thread, pool };

  // `slow` compiles steps. `alarms` fails runs and never computes: a failed run must account for each of its items,
  // which should not wait for other work.
  // `life` is the incarnation of its task.
  worker(rpc::network& net, std::string name, std::uint64_t life, runtime::task& on, exchange& values, builders& slow,
         thread_pool& alarms, const server_limits& limits);

  const runtime::task& task() const { return task_; }

  // The parts of steps that it has run and runs, and the runs under way.
  step_report parts() const;
  const active_runs& runs() const { return runs_; }
  // How many parts have ended and hold what they have taken from queues, since their runs have not.
  std::size_t unsettled() const { return unsettled_.size(); }
  // The failures that its task has seen. They may outlive the worker.
  const std::shared_ptr<recent_failures>& failures() const { return failures_; }
  // The graphs that its task was sent: by masters, and by the clients of its own master.
  kept_graphs& graphs() { return graphs_; }
  const kept_graphs& graphs() const { return graphs_; }

  // Registers steps, and knows whose sessions are.
  step_registrar& registrar() { return registrar_; }

  // Runs a registered step, which returns `fetches` values. The run is counted until `counted` is gone, which is kept
  // while it is under way here or holds what it has taken.
  void run(const run_step& r, const requester& by, std::vector<any_tensor> feeds, std::size_t fetches, begin_in where,
           run_ended done, std::shared_ptr<void> counted = nullptr);

  std::vector<std::string> take_notices(const session_id& session) { return steps_.take_notices(session); }

  // Cancels a run; ignored for a run of another requester. A cancellation may arrive before its run, and after it has
  // ended here: what it has taken from queues goes back then.
  void cancel(const run_id& run, const error& why, const requester& by = {});
  // Ends the wait of a run that has ended here with `holds`: all of its parts have ended well. Ignored for a run of
  // another requester.
  void settle(const run_id& run, const requester& by = {});
  // Returns the key of a value that a run waits for here, for messages; an empty one if none.
  transfer_key waits_for(const run_id& run) const;
  // Tells how far a run is here. Throws not_found if it is not under way, permission_denied for a run of another
  // requester.
  progress_reply progress_of(const run_id& run, const requester& by = {}) const;

  // Forgets the steps of a session; ignored for a session of another requester.
  void forget_session(const session_id& session, const requester& by = {});
  // Cancels the runs and forgets the sessions of a master whose connection is gone. What was to be compiled for it is
  // not begun any more.
  void forget_owner(std::uint64_t channel, const error& why);
  // Tells the state of this task that another task is lost, so that nobody waits there for it.
  void tell_lost(const std::string& task, const error& why);
  // Clears the containers, or all of them if none is named. Steps are compiled again when they next run.
  void reset(const std::vector<std::string>& containers);

  // Refuses new steps and runs from now on; the runs that have begun go on.
  void drain() { steps_.stop(); }
  // Fails all runs and waits until they have ended. Returns a text that names the runs that have not ended at `until`;
  // "" if none.
  std::string stop(const error& why, time_point until);

 private:
  // A run that was requested and has not yet begun.
  struct ordered_run {
    run_step what;
    requester by;
    std::vector<any_tensor> feeds;
    std::size_t fetches;
    begin_in where;
    run_ended done;
    std::shared_ptr<void> counted;
  };

  void let_go(const session_id& session, kept_steps::session_ref kept);

  // ---- running

  void refuse(const ordered_run& order, error why);
  void begin(ordered_run& order, kept_steps::found what);
  std::shared_ptr<active_run> enter(ordered_run& order, kept_steps::found&& what);
  // Fails a run. A run that has not started ends at once.
  void fail(const std::shared_ptr<active_run>& a, const error& why);
  void start(const std::shared_ptr<active_run>& a);
  void start_in_pool(const std::shared_ptr<active_run>& a);
  void finish(const std::shared_ptr<active_run>& a);
  // Keeps a run that ends here, if it would give something back where it is given up. Returns whether it would.
  bool keep_unsettled(const std::shared_ptr<active_run>& a);

  rpc::network& net_;
  const std::string name_;
  runtime::task& task_;
  exchange& exchange_;
  builders& builders_;
  thread_pool& alarms_;
  kept_graphs graphs_;
  kept_steps steps_;
  step_registrar registrar_{net_, name_, exchange_, builders_, graphs_, steps_};
  step_counts counts_;
  const std::shared_ptr<recent_failures> failures_ = std::make_shared<recent_failures>();

  active_runs runs_;
  unsettled_parts unsettled_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/worker.ipp>
#endif
