// Saves checkpoints while training goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/train/checkpoint/saver.hpp>
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
  bool in_background = true;  // files are written by a thread, from the variables as they were at the step
};

// Saves when a session is made, every so many steps or seconds, and at the end if the last step is not saved yet. When
// a session is made it also writes the graph, as graph.pbtxt, for TensorBoard's graph page; not in a build without
// protozero.
class checkpoint_saver {
 public:
  explicit checkpoint_saver(checkpoint_saver_options o)
      : o_(std::move(o)), timer_(o_.save_steps, o_.save_secs, "checkpoint_saver") {
    if (o_.dir.empty()) throw error(errc::invalid_argument, "checkpoint_saver was given no dir");
  }
  void begin() {
    step_.begin();
    if (!o_.saver) o_.saver = std::make_shared<pinion::train::saver>();
    for (const checkpoint_listener& l : o_.listeners)
      if (l.begin) l.begin();
  }
  void after_create_session(session& s, coordinator&) {
    timer_.reset();
#if PINION_HAS_PROTOZERO
    write_graph(s.graph(), o_.dir);
#endif
    save(s, step_.read(s));
  }
  run_request before_run(run_context&) {
    return step_.request();
  }
  void after_run(run_context& c, std::span<const any_tensor> values) {
    const auto now = step_.read_if_due(timer_, c, values);
    if (now && save(c.session(), *now)) c.request_stop();
  }
  void end(session& s) {
    const std::int64_t now = step_.read(s);
    if (timer_.last_step() != now) save(s, now);
    o_.saver->wait();
    for (const checkpoint_listener& l : o_.listeners)
      if (l.end) l.end(s, now);
  }

 private:
  // True if a listener wants training to stop.
  bool save(session& s, std::int64_t step) {
    timer_.done(step);
    for (const checkpoint_listener& l : o_.listeners)
      if (l.before_save) l.before_save(s, step);
    const std::string path = (std::filesystem::path(o_.dir) / o_.basename).string();
    if (o_.in_background)
      o_.saver->save_in_background(s, path, step_.variable());
    else
      o_.saver->save(s, path, step_.variable());
    bool stop = false;
    for (const checkpoint_listener& l : o_.listeners) {
      if (!l.after_save) continue;
      o_.saver->wait();
      stop = l.after_save(s, step) || stop;
    }
    return stop;
  }

  checkpoint_saver_options o_;
  step_timer timer_;
  global_step_watch step_;
};

}  // namespace pinion::inline v0::train
