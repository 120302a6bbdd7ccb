// The hook that saves checkpoints while training goes on. A monitored session with a checkpoint_dir makes one for its
// chief.
//
//   tr::checkpoint_saver({.dir = "logs", .save_secs = 600})
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/train/checkpoint/saver.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Callbacks around each checkpoint, called in the thread of the session. Any of them may be empty.
struct checkpoint_listener {
  // Called once, before the first session is made.
  std::function<void()> begin = {};
  // Called before the variables are fetched.
  std::function<void(session&, std::int64_t step)> before_save = {};
  // Called when the files are written. A result of true asks for the end of training. The hook then waits for the files
  // of each save, even if `in_background` is true.
  std::function<bool(session&, std::int64_t step)> after_save = {};
  // Called at the end, after the last save.
  std::function<void(session&, std::int64_t step)> end = {};
};

// The options of checkpoint_saver. Exactly one of save_steps and save_secs is given.
struct checkpoint_saver_options {
  // The folder of the checkpoints; it is made if it does not exist. A relative path is one of the directory in which
  // the process is when the hook is made.
  std::string dir = {};
  // The number of global steps from one save to the next.
  std::optional<std::int64_t> save_steps = {};
  // The seconds from one save to the next.
  std::optional<double> save_secs = {};
  // Saves and restores; empty: a saver of all global variables.
  std::shared_ptr<pinion::train::saver> saver = {};
  // The file name in front of the step: "model" gives "model-20.safetensors".
  std::string basename = "model";
  // Callbacks around each save, in this order.
  std::vector<checkpoint_listener> listeners = {};
  // true: a thread writes the files, from the variables as they were at the step, while training goes on.
  bool in_background = true;
  // Training ends with the error of the last save when this many saves in a row have failed; 0: training goes on.
  int max_failed_saves = 0;
  // A failed save is tried again after this many seconds, a time that doubles with each failure up to ten minutes.
  double retry_secs = 10;
  // The seconds for which the save at the end is tried again before its error is thrown.
  double last_save_secs = 60;
  // true: begin() throws failed_precondition while such a hook of another training, in this process or another of the
  // machine, saves in the folder. The hook of a monitored session without a cluster is so.
  bool alone = false;
  // Receives a line for each checkpoint; empty: nothing is written.
  text_sink log = {};
  // Receives a line for each failed save; empty: standard error.
  text_sink warn = {};
};

// Saves a checkpoint when a session is made, then every save_steps global steps or save_secs seconds, and at the end if
// the last step is not saved yet. With each new session it also writes the graph as graph.pbtxt, for TensorBoard's
// graph page; a build without protozero leaves that out.
//
// One thread at a time may use it: the thread of its session. A save that fails because the disk is full or the folder
// is not writable is reported and tried again, while training goes on. The exceptions are begin(), which throws if no
// file can be made in the folder, and end(), which throws if the last step cannot be saved within last_save_secs. The
// constructor throws invalid_argument without a dir, or unless exactly one of save_steps and save_secs is given.
class checkpoint_saver {
 public:
  // Throws invalid_argument without a dir, or unless exactly one of save_steps and save_secs is given.
  explicit checkpoint_saver(checkpoint_saver_options o);
  // Makes the folder and proves that files can be made in it.
  void begin();
  // Writes the graph page and saves a first checkpoint.
  void after_create_session(session& s, coordinator&);
  // Fetches the global step.
  run_request before_run(run_context&);
  // Saves if a save is due, and reports saves that have ended.
  void after_run(run_context& c, std::span<const any_tensor> values);
  // Saves the last step, if it is not saved yet.
  void end(session& s);

 private:
  struct started_save {
    std::int64_t step;
    std::string prefix;
  };

  // Saves, and returns true if a listener asks for the end of training.
  bool save(session& s, std::int64_t step);
  // Calls the listeners' after_save, and returns true if one of them asks for the end of training.
  bool tell_listeners(session& s, std::int64_t step) const;
  // Fetches the variables and starts the writing.
  void begin_save(session& s, std::int64_t step);
  // Waits for the files of the save that is being written. Returns an error that may pass, since training goes on, and
  // throws another one.
  outcome<> end_save();
  // Reports the save that was begun last, once its files are written or have failed.
  void look_at_save();
  std::string when_next(std::int64_t step, double pause) const;
  // Saves the last step. Tries again until it succeeds or last_save_secs are over.
  void insist(session& s, std::int64_t step);

  checkpoint_saver_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble graph_page_;
  std::optional<started_save> under_way_;
  std::shared_ptr<const void> held_;   // the folder, from begin() to end()
  std::optional<std::int64_t> saved_;  // the step of this session's last complete checkpoint
  int failures_ = 0;                   // saves that failed in a row
  std::optional<step_timer::clock::time_point> retry_at_;
};
PINION_HELD_HOOK(checkpoint_saver)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/checkpoint_saver.ipp>
#endif
