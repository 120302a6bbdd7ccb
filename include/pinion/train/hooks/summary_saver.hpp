// Writes summaries while training goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>
#include <pinion/train/summary/summary.hpp>
#include <pinion/train/summary/summary_writer.hpp>

namespace pinion::inline v0::train {

struct summary_saver_options {
  std::optional<std::int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  std::string dir = {};                         // of a writer of its own,
  std::shared_ptr<summary_writer> writer = {};  // or this one
  expr<std::string> summary_op = {};            // empty: all summaries of the graph; nothing where it has none
  text_sink warn = {};                          // is told of a disk that fails; standard error where empty
};

// At the first step and then every so many steps or seconds. A disk that fails is told of, and training goes on.
class summary_saver {
 public:
  explicit summary_saver(summary_saver_options o)
      : o_(std::move(o)), timer_(o_.save_steps, o_.save_secs, "summary_saver"), file_("summaries", o_.warn, true) {
    if (!o_.writer && o_.dir.empty())
      throw error(errc::invalid_argument, "summary_saver was given neither dir nor writer");
  }
  void begin() {
    step_.begin();
    if (o_.summary_op.empty() && !default_graph().collection(std::string(summary::all)).empty())
      o_.summary_op = summary::merge_all();
    if (!o_.writer) o_.writer = std::make_shared<summary_writer>(o_.dir);
  }
  void after_create_session(session& s, coordinator&) {
    next_ = step_.read(s);
    // Asked for outside: a task that is lost is no trouble with the disk.
    const auto devices = has_graph_ ? std::vector<device_info>() : s.list_devices();
    file_.survive([&] {
      o_.writer->add_session_log(session_mark::start, next_);
      if (!std::exchange(has_graph_, true)) o_.writer->add_graph(s.graph(), devices);
    });
    timer_.reset();
  }
  run_request before_run(run_context&) {
    run_request r = step_.request();
    asked_ = !o_.summary_op.empty() && timer_.due(next_);
    if (asked_) r.fetches.push_back(o_.summary_op);
    return r;
  }
  void after_run(run_context&, std::span<const any_tensor> values) {
    const std::int64_t now = step_.fetched(values);
    if (asked_) {
      timer_.done(now);
      file_.survive([&] { o_.writer->add(tensor<std::string>(values[1]), now); });
    }
    next_ = now + 1;
  }
  void end(session&) {
    file_.survive([&] { o_.writer->flush(); });
  }

 private:
  summary_saver_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble file_;
  std::int64_t next_ = 0;
  bool asked_ = false, has_graph_ = false;
};

}  // namespace pinion::inline v0::train
