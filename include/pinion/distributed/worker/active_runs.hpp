// The parts of runs that a worker computes now, and how they end.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/distributed/report/task_report.hpp>
#include <pinion/distributed/worker/kept_steps.hpp>
#include <pinion/distributed/worker/remote_rendezvous.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The end of a run, or of its part in one task.
struct run_result {
  std::vector<any_tensor> fetches = {};
  step_trace trace = {};      // of what ran, also if the run failed; empty unless it was asked for
  shared_error failure = {};  // null: it ended well
  bool holds = false;         // was something taken from queues that goes back if the run is given up later?
};

// Is there nothing to tell but the failure?
inline bool failed_without_trace(const run_result& r) {
  return r.failure && r.trace.events.empty();
}

// Takes the result of a run. Called once, in any thread.
using run_ended = std::function<void(run_result)>;

// A part of a run that has begun. Shared by the code that runs it.
struct active_run {
  active_run(std::shared_ptr<remote_rendezvous> r, kept_steps::found&& what, requester who);

  std::shared_ptr<remote_rendezvous> meet;
  time_point began{};
  std::shared_ptr<runtime::compiled_step> step;  // the compiled step when the run began; a reset compiles another
  std::shared_ptr<const kept_step> registered;
  std::weak_ptr<const kept_session> session;
  requester owner;
  std::optional<step_tracer> tracer;
  std::vector<any_tensor> feeds, fetches;
  runtime::step_state state;
  run_ended done;
  std::shared_ptr<void> counted;
  std::atomic<bool> started{false};

  const run_id& id() const { return meet->run(); }
};

inline constexpr std::size_t most_nodes_named = 3;  // of one step, in one message

// The runs of a worker, until it has stopped. Owned by the worker. Thread-safe; the lock is held for moments only.
class active_runs {
 public:
  using run = std::shared_ptr<active_run>;

  // Enters a run with what takes its result, and what it is counted by. Returns false, and takes nothing, once stop()
  // was called.
  bool add(const run& begun, run_ended& done, std::shared_ptr<void>& counted);
  void remove(const active_run& ended);

  std::size_t size() const;
  run find(const run_id& id) const;  // null: it is not under way
  template <class Which>
  std::vector<run> all_that(const Which& which) const {
    std::vector<run> found;
    std::lock_guard hold(mutex_);
    for (const auto& [id, one] : runs_)
      if (which(*one)) found.push_back(one);
    return found;
  }
  std::vector<run> all() const {
    return all_that([](const active_run&) { return true; });
  }

  // Tells of the runs, the oldest first, of so many as a report has.
  std::vector<run_report> report(time_point now) const;
  // Returns a text that names the runs that have not ended, such as "2 run(s) of step 3 of ..."; "" if there are none.
  std::string names() const;

  // Takes no more of them.
  void stop();
  // Returns false if some have not ended at `until`.
  bool wait_until_none(time_point until);

 private:
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  bool stopped_ = false;
  std::map<run_id, run> runs_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/active_runs.ipp>
#endif
