// The options of a monitored session.
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

struct monitored_session_options {
  std::string master = {};          // "" this process, or "pinion://host:port"
  bool is_chief = true;             // who initialises or restores, and saves; the others wait for that
  std::string checkpoint_dir = {};  // restored from if it has a checkpoint; saved to. Empty: neither
  pinion::train::scaffold scaffold = {};
  std::vector<any_hook> hooks = {};
  std::vector<any_hook> chief_only_hooks = {};
  std::optional<double> save_checkpoint_secs = {};         // 600 where no steps are given either; 0: never
  std::optional<std::int64_t> save_checkpoint_steps = {};  // 0: never
  std::optional<std::int64_t> save_summaries_steps = {};   // 100 where no seconds are given either; 0: never
  std::optional<double> save_summaries_secs = {};          // 0: never
  session_options config = {};
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);  // for threads to end
  std::optional<std::int64_t> log_step_count_steps = {};  // 100, and a line a second at most, where empty; 0: never
  std::chrono::milliseconds max_wait = std::chrono::seconds(7200);  // for tasks that are not there, and for the chief
  std::string summary_dir = {};                                     // empty: checkpoint_dir
  int max_recoveries = 100;                                         // in a row, without a step that succeeds
  // Lines about progress, checkpoints, lost tasks, recoveries and whom it waits for; standard error where empty,
  // tr::silent for none. Called by one thread at a time, which need not be the session's.
  text_sink log = {};
  bool stop_on_signals = true;  // SIGINT and SIGTERM end training, where they have no handler and are not ignored
  std::chrono::milliseconds signal_grace_period = std::chrono::seconds(5);  // for the step under way; then cancelled
  int max_failed_saves = 0;  // so many in a row end training; 0: it goes on
  // The chief tells the others that it is there twice in that time; they take it for lost after two. 0: neither.
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
};

}}}  // namespace pinion::v0::train
