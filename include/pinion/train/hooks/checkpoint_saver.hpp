// Saves checkpoints while training goes on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/files/folder.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/train/checkpoint/saver.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>
#include <pinion/train/summary/graph_text.hpp>

namespace pinion::inline v0::train {

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
  explicit checkpoint_saver(checkpoint_saver_options o)
      : o_(std::move(o)),
        timer_(o_.save_steps, o_.save_secs, "checkpoint_saver"),
        graph_page_("graph.pbtxt", o_.warn, true) {
    if (o_.dir.empty()) throw error(errc::invalid_argument, "checkpoint_saver was given no dir");
  }
  void begin() {
    step_.begin();
    if (!o_.saver) o_.saver = std::make_shared<pinion::train::saver>();
    files::make_folder(o_.dir);
    files::output_file(std::filesystem::path(o_.dir) / "checkpoint");  // leaves what is there as it is
    for (const checkpoint_listener& l : o_.listeners)
      if (l.begin) l.begin();
  }
  void after_create_session(session& s, coordinator&) {
    look_at_save();
    timer_.reset();
    saved_.reset();
#if PINION_HAS_PROTOZERO
    graph_page_.survive([&] { write_graph(s.graph(), o_.dir); });
#endif
    save(s, step_.read(s));
  }
  run_request before_run(run_context&) {
    return step_.request();
  }
  void after_run(run_context& c, std::span<const any_tensor> values) {
    if (!o_.saver->is_writing()) look_at_save();
    const auto is_due = [this](std::int64_t step) {
      return timer_.due(step) || (retry_at_ && step_timer::clock::now() >= *retry_at_);
    };
    const auto now = step_.read_if(is_due, c, values);
    if (now && save(c.session(), *now)) c.request_stop();
  }
  void end(session& s) {
    const std::int64_t now = step_.read(s);
    if (under_way_) end_save();
    if (saved_ != now) insist(s, now);
    for (const checkpoint_listener& l : o_.listeners)
      if (l.end) l.end(s, now);
  }

 private:
  struct started_save {
    std::int64_t step;
    std::string prefix;
  };

  // True if a listener wants training to stop.
  bool save(session& s, std::int64_t step) {
    const bool is_told = std::any_of(o_.listeners.begin(), o_.listeners.end(),
                                     [](const checkpoint_listener& l) { return bool(l.after_save); });
    look_at_save();
    begin_save(s, step);
    if (!is_told && o_.in_background) return false;
    look_at_save();
    return saved_ == step && tell_listeners(s, step);
  }
  bool tell_listeners(session& s, std::int64_t step) const {
    bool stop = false;
    for (const checkpoint_listener& l : o_.listeners) stop = (l.after_save && l.after_save(s, step)) || stop;
    return stop;
  }
  void begin_save(session& s, std::int64_t step) {
    timer_.done(step);
    retry_at_.reset();
    for (const checkpoint_listener& l : o_.listeners)
      if (l.before_save) l.before_save(s, step);
    const std::string path = (std::filesystem::path(o_.dir) / o_.basename).string();
    under_way_ = started_save{step, o_.saver->save_in_background(s, path, step_.variable())};
  }
  // Waits for the files of the save under way; says why they are not there.
  std::optional<error> end_save() {
    const started_save of = *std::exchange(under_way_, std::nullopt);
    const auto failed = o_.saver->outcome();
    if (failed && !may_pass(*failed)) throw *failed;
    if (failed) return failed;
    saved_ = of.step;
    failures_ = 0;
    if (o_.log) o_.log("saved checkpoint " + of.prefix);
    return std::nullopt;
  }
  // Tells of the save under way, if there is one, once it has ended.
  void look_at_save() {
    if (!under_way_) return;
    const std::int64_t step = under_way_->step;
    const auto failed = end_save();
    if (!failed) return;
    if (++failures_ == o_.max_failed_saves)
      throw error(failed->code(),
                  fmt::format("training ends after {} saves in a row that failed: {}", failures_, failed->what()));
    const double pause =
        std::min(std::ldexp(o_.retry_secs, std::min(failures_ - 1, 30)), std::max(600., o_.retry_secs));
    retry_at_ = step_timer::clock::now() +
                std::chrono::duration_cast<step_timer::clock::duration>(std::chrono::duration<double>(pause));
    tell(o_.warn, fmt::format("cannot save the checkpoint of step {}: {}; training goes on, and the next save is due "
                              "in {:g} s at the latest",
                              step, failed->what(), pause));
  }
  // Saves the last step, however often that takes within the time given.
  void insist(session& s, std::int64_t step) {
    const auto until = step_timer::clock::now() + std::chrono::duration<double>(o_.last_save_secs);
    for (auto pause = std::chrono::milliseconds(100);; pause = std::min(2 * pause, std::chrono::milliseconds(5000))) {
      begin_save(s, step);
      const auto failed = end_save();
      if (!failed) break;
      if (step_timer::clock::now() + pause > until)
        throw error(failed->code(),
                    fmt::format("the last checkpoint, of step {}, cannot be saved: {}", step, failed->what()));
      tell(o_.warn,
           fmt::format("cannot save the last checkpoint, of step {}: {}; it is tried again for {:.0f} s more", step,
                       failed->what(), std::chrono::duration<double>(until - step_timer::clock::now()).count()));
      std::this_thread::sleep_for(pause);
    }
    tell_listeners(s, step);
  }

  checkpoint_saver_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble graph_page_;
  std::optional<started_save> under_way_;
  std::optional<std::int64_t> saved_;  // the step of the last checkpoint that is there, of this session
  int failures_ = 0;                   // in a row
  std::optional<step_timer::clock::time_point> retry_at_;
};

}  // namespace pinion::inline v0::train
