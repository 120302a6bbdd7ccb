// Saves checkpoints while training goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/checkpoint/saver.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Told of each checkpoint; any of the functions may be empty.
struct checkpoint_listener {
  std::function<void()> begin = {};
  std::function<void(session&, std::int64_t step)> before_save = {};
  // The files are there. True: training is to stop.
  std::function<bool(session&, std::int64_t step)> after_save = {};
  std::function<void(session&, std::int64_t step)> end = {};
};

struct checkpoint_saver_options {
  std::string dir = {};
  std::optional<std::int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  std::shared_ptr<pinion::train::saver> saver = {};  // empty: one of all global variables
  std::string basename = "model";
  std::vector<checkpoint_listener> listeners = {};
  bool in_background = true;   // files are written by a thread, from the variables as they were at the step
  int max_failed_saves = 0;    // so many in a row end training with the error of the last; 0: training goes on
  double retry_secs = 10;      // until a save that failed is tried again, twice as long each time up to ten minutes
  double last_save_secs = 60;  // for so long the save at the end is tried again, before it fails
  text_sink log = {};          // is told of each checkpoint; nothing is where it is empty
  text_sink warn = {};         // is told of each that failed; standard error where empty
};

// Saves when a session is made, every so many steps or seconds, and at the end if the last step is not saved yet. A
// save that finds the disk full, or no right to write, is told of and tried again, while training goes on; only at the
// beginning it is an error where no file can be made in the folder, and at the end where the last step cannot be saved.
// When a session is made it also writes the graph, as graph.pbtxt, for TensorBoard's graph page; not in a build without
// protozero.
class checkpoint_saver {
 public:
  explicit checkpoint_saver(checkpoint_saver_options o);
  void begin();
  void after_create_session(session& s, coordinator&);
  run_request before_run(run_context&);
  void after_run(run_context& c, std::span<const any_tensor> values);
  void end(session& s);

 private:
  struct started_save {
    std::int64_t step;
    std::string prefix;
  };

  // True if a listener wants training to stop.
  bool save(session& s, std::int64_t step);
  bool tell_listeners(session& s, std::int64_t step) const;
  void begin_save(session& s, std::int64_t step);
  // Waits for the files of the save under way; says why they are not there.
  std::optional<error> end_save();
  // Tells of the save under way, if there is one, once it has ended.
  void look_at_save();
  // Saves the last step, however often that takes within the time given.
  void insist(session& s, std::int64_t step);

  checkpoint_saver_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble graph_page_;
  std::optional<started_save> under_way_;
  std::optional<std::int64_t> saved_;  // the step of the last checkpoint that is there, of this session
  int failures_ = 0;                   // in a row
  std::optional<step_timer::clock::time_point> retry_at_;
};
PINION_HELD_HOOK(checkpoint_saver)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/checkpoint_saver.ipp>
#endif
