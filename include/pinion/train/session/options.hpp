// The options of a monitored session.
//
//   {.master = server.target(), .is_chief = task == 0, .checkpoint_dir = "logs",
//    .hooks = {tr::stop_at_step({.last_step = 10000}), tr::nan_tensor(loss)}, .save_checkpoint_secs = 60}
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/session/log.hpp>
#include <pinion/train/session/scaffold.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A value; hooks, savers and sinks in it are shared with the session.
struct monitored_session_options {
  // The target of the session: "" for this process, or "pinion://host:port".
  std::string master = {};
  // The chief initialises or restores the variables, and saves them; the other workers wait for that.
  bool is_chief = true;
  // The folder of checkpoints: the newest one in it is restored, and new ones are saved to it. Empty: neither. A
  // relative path is one of the directory in which the process is when the session is made.
  std::string checkpoint_dir = {};
  // Operations that make the variables ready; empty ones are made.
  pinion::train::scaffold scaffold = {};
  // Hooks of every task.
  std::vector<any_hook> hooks = {};
  // Hooks that only the chief calls, before those of every task.
  std::vector<any_hook> chief_only_hooks = {};
  // The seconds from one checkpoint to the next: 600 if no number of steps is given either; 0: never.
  std::optional<double> save_checkpoint_secs = {};
  // The number of global steps from one checkpoint to the next; 0: never.
  std::optional<std::int64_t> save_checkpoint_steps = {};
  // The number of global steps from one summary to the next: 100 if no time is given either; 0: never.
  std::optional<std::int64_t> save_summaries_steps = {};
  // The seconds from one summary to the next; 0: never.
  std::optional<double> save_summaries_secs = {};
  // The options of the session; target and graph in it are replaced.
  session_options config = {};
  // The time that the threads of the coordinator have to end by themselves, at the end of training.
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);
  // The number of global steps from one line about progress to the next. Empty: 100, and a line a second at most; 0:
  // none.
  std::optional<std::int64_t> log_step_count_steps = {};
  // The longest wait for tasks that are not there, and for the chief.
  std::chrono::milliseconds max_wait = std::chrono::seconds(7200);
  // The folder of summaries; empty: checkpoint_dir.
  std::string summary_dir = {};
  // The number of recoveries in a row, without a step that succeeds in between, after which it gives up.
  int max_recoveries = 100;
  // Receives lines about progress, checkpoints, lost tasks, recoveries and waits. Empty: standard error; tr::silent:
  // none. It is called by one thread at a time, which need not be the session's.
  text_sink log = {};
  // true: SIGINT and SIGTERM end training, unless the program handles or ignores them.
  bool stop_on_signals = true;
  // The time that the step under way has to end after a signal; then it is cancelled.
  std::chrono::milliseconds signal_grace_period = std::chrono::seconds(5);
  // Training ends when this many saves in a row have failed; 0: it goes on.
  int max_failed_saves = 0;
  // The chief renews its sign twice in this time, and workers take it for lost after two of it. 0: neither.
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
};

}}}  // namespace pinion::v0::train
