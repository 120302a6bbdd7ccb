// One run of a step, seen from its master.
//
// Invariants (numbers of protocol.md in brackets)
//   1. A run ends once: with its fetches when every task has ended its part, or with the first failure. [R1, R2]
//   2. A run whose deadline has come names the tasks that have not ended their parts, and says of each whether it lives
//      and where it is. [R5]
//   3. A run that lasts long says for whom it waits, every ten seconds, in the log of this process. A partial run waits
//      for its caller, and says nothing. [R9]
//   4. A failure cancels the run on every task of the step. The run then waits only for the part of this task, since
//      another task may be dead; a traced run also waits a moment for the traces of the others. [R3, R6]
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/distributed/master/master_services.hpp>
#include <pinion/distributed/master/session_step.hpp>
#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A run. Shared by its session and by requests whose answers are pending. Thread-safe.
class session_run : public std::enable_shared_from_this<session_run> {
 public:
  // Who hears of a run, in any thread.
  struct listeners {
    std::function<void(const shared_error& failure)>
        leave;                                           // called once, before done; a failure of null: there is none
    std::function<void(std::vector<std::string>)> tell;  // takes the notices of the parts
    run_ended done;                                      // called once
  };

  // `client` is the connection of the client who has a share of the task's threads, or 0: the session has its own.
  session_run(master_services& services, std::shared_ptr<const session_step> what, run_id id, std::uint64_t client,
              listeners heard_by);

  // Starts the part of every task. With `trace`, the result holds what the tasks did.
  void begin(std::vector<any_tensor> feeds, bool trace, deadline until, worker::begin_in where);

  void fail(const error& why);
  // Fails it since a deadline has come, and says who was waited for; `what` did not end in time.
  void fail_late(const std::string& what);
  // Says a line that names who is waited for, if the run has lasted ten seconds, or that long since the last line.
  // Returns whether it is one that may say so. To be called each second or so.
  bool say_if_long(time_point now, const few_lines::sink& say);
  // Ends the wait for traces of other tasks, if there is one.
  void want_no_traces();

 private:
  void begin_parts(std::vector<any_tensor> feeds, bool trace, deadline until, worker::begin_in where);
  void tell(std::vector<std::string> notices) const;
  // Cancels the run on every task, also on those that have ended their parts: they may hold values that nobody will
  // pull, or what they have taken from queues.
  void cancel(const error& why);
  // Tells those that hold something until then that the run has ended well.
  void settle();
  void ended_here(run_result part);
  void ended_at(const std::string& task, outcome<part_ended> part);
  // Adds the trace of a part. Clocks of tasks differ, but the part ran within this run. Requires: the lock is held.
  void add(step_trace part);
  void finish_if_over();

  // Does nobody need what other tasks would still tell? Requires: the lock is held.
  bool waits_for_nobody() const;
  // Calls `what` at that time, if the run has not ended. Requires: it has not begun, or the lock is held.
  void call_at(time_point when, void (*what)(session_run&));
  // Requires: the run has not begun.
  void watch(time_point until);
  // Asks the tasks that have not ended their parts how far they are, some time before it is too late.
  void ask_for_progress();
  error too_late(const std::string& what) const;
  // Who has not ended, as messages show it: "waiting for x:0 from ...; ... has not ended its part (...)"; "": nobody.
  std::string waits_for() const;
  std::string own_part() const;
  // The state of a task that has not ended its part, as messages show it. Requires: the lock is held.
  std::string state_of(const std::string& task) const;

  master_services& s_;
  const std::shared_ptr<const session_step> step_;
  const run_id id_;
  const std::uint64_t client_;
  listeners heard_by_;
  std::optional<step_tracer> clock_;  // of a run that is traced
  std::int64_t began_ = 0;

  mutable std::mutex mutex_;
  std::set<std::string> left_;                      // other tasks that have not yet ended their parts
  std::map<std::string, progress_reply> progress_;  // what they have told of them
  std::vector<std::string> holding_;                // tasks that are to be told how the run ends
  const time_point born_;
  time_point last_word_;  // when it last said for whom it waits, at first when it was born
  bool asked_ = false;    // since then
  bool here_left_ = true, finished_ = false;
  bool wants_traces_ = false;  // of a run that has failed
  run_result result_;
  shared_error failure_;
  std::vector<deadlines::entry> deadlines_;  // empty: none; changes before the run begins, and as it fails
  // So long a traced run that has failed waits for the traces of tasks; less than what its client waits longer than its
  // deadline.
  static constexpr std::chrono::milliseconds max_wait_for_traces{500};
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_run.ipp>
#endif
