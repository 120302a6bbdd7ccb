// Bodies of <pinion/train/hooks/checkpoint_saver.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <pinion/files/folder.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/train/hooks/checkpoint_saver.hpp>
#include <pinion/train/summary/graph_text.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(checkpoint_saver)

PINION_DECL checkpoint_saver::checkpoint_saver(checkpoint_saver_options o)
    : o_(std::move(o)),
      timer_(o_.save_steps, o_.save_secs, "checkpoint_saver"),
      graph_page_("graph.pbtxt", o_.warn, true) {
  if (o_.dir.empty()) throw error(errc::invalid_argument, "checkpoint_saver was given no dir");
  o_.dir = files::absolute_path(o_.dir).string();
}

PINION_DECL void checkpoint_saver::begin() {
  step_.begin();
  if (!o_.saver) o_.saver = std::make_shared<pinion::train::saver>();
  files::make_folder(o_.dir);
  if (o_.alone && !(held_ = files::hold_folder(o_.dir)))
    throw error(errc::failed_precondition,
                "another training writes its checkpoints to " + o_.dir +
                    ", and has not ended: let it end, or give this one a folder of its own (checkpoint_dir)");
  {
    // This proves that files can be made in the folder. An existing list stays as it is, since nothing is committed.
    const files::output_file writable(std::filesystem::path(o_.dir) / "checkpoint");
  }
  for (const checkpoint_listener& l : o_.listeners)
    if (l.begin) l.begin();
}

PINION_DECL void checkpoint_saver::after_create_session(session& s, coordinator&) {
  look_at_save();
  timer_.reset();
  saved_.reset();
#if PINION_HAS_PROTOZERO
  graph_page_.survive([&] { write_graph(s.graph(), o_.dir); });
#endif
  save(s, step_.read(s));
}

PINION_DECL run_request checkpoint_saver::before_run(run_context&) {
  return step_.request();
}

PINION_DECL void checkpoint_saver::after_run(run_context& c, std::span<const any_tensor> values) {
  if (!o_.saver->is_writing()) look_at_save();
  const auto is_due = [this](std::int64_t step) {
    return timer_.due(step) || (retry_at_ && step_timer::clock::now() >= *retry_at_);
  };
  const auto now = step_.read_if(is_due, c, values);
  if (now && save(c.session(), *now)) c.request_stop();
}

PINION_DECL void checkpoint_saver::end(session& s) {
  const std::int64_t now = step_.read(s);
  if (under_way_) (void)end_save();  // a save that has failed is made again below
  if (saved_ != now) insist(s, now);
  for (const checkpoint_listener& l : o_.listeners)
    if (l.end) l.end(s, now);
  held_.reset();
}

PINION_DECL bool checkpoint_saver::save(session& s, std::int64_t step) {
  const bool is_told = std::any_of(o_.listeners.begin(), o_.listeners.end(),
                                   [](const checkpoint_listener& l) { return bool(l.after_save); });
  look_at_save();
  begin_save(s, step);
  if (!is_told && o_.in_background) return false;
  look_at_save();
  return saved_ == step && tell_listeners(s, step);
}

PINION_DECL bool checkpoint_saver::tell_listeners(session& s, std::int64_t step) const {
  bool stop = false;
  for (const checkpoint_listener& l : o_.listeners) stop = (l.after_save && l.after_save(s, step)) || stop;
  return stop;
}

PINION_DECL void checkpoint_saver::begin_save(session& s, std::int64_t step) {
  timer_.done(step);
  retry_at_.reset();
  for (const checkpoint_listener& l : o_.listeners)
    if (l.before_save) l.before_save(s, step);
  const std::string path = (std::filesystem::path(o_.dir) / o_.basename).string();
  under_way_ = started_save{step, o_.saver->save_in_background(s, path, step_.variable())};
}

PINION_DECL outcome<> checkpoint_saver::end_save() {
  const started_save of = *std::exchange(under_way_, std::nullopt);
  const outcome<> written = o_.saver->written();
  if (!written && may_pass(*written.failure())) return written;
  written.value();
  saved_ = of.step;
  failures_ = 0;
  if (o_.log) o_.log("saved checkpoint " + of.prefix);
  return {};
}

PINION_DECL void checkpoint_saver::look_at_save() {
  if (!under_way_) return;
  const std::int64_t step = under_way_->step;
  const shared_error failed = end_save().failure();
  if (!failed) return;
  if (++failures_ == o_.max_failed_saves)
    throw error(failed->code(),
                fmt::format("training ends after {} saves in a row that failed: {}", failures_, failed->what()));
  const double pause = std::min(std::ldexp(o_.retry_secs, std::min(failures_ - 1, 30)), std::max(600., o_.retry_secs));
  retry_at_ = step_timer::clock::now() +
              std::chrono::duration_cast<step_timer::clock::duration>(std::chrono::duration<double>(pause));
  tell(o_.warn, fmt::format("cannot save the checkpoint of step {}: {}; training goes on, and a save is tried again {}",
                            step, failed->what(), when_next(step, pause)));
}

// Returns when the next save is made after one that began at a step and failed: after the pause, or sooner if one is
// due by itself.
inline std::string checkpoint_saver::when_next(std::int64_t step, double pause) const {
  const std::string in_time = fmt::format("in {:g} s", o_.save_secs ? std::min(pause, *o_.save_secs) : pause);
  return o_.save_steps ? fmt::format("at step {}, or {} if that is sooner", step + *o_.save_steps, in_time) : in_time;
}

PINION_DECL void checkpoint_saver::insist(session& s, std::int64_t step) {
  const auto until = step_timer::clock::now() + std::chrono::duration<double>(o_.last_save_secs);
  for (auto pause = std::chrono::milliseconds(100);; pause = std::min(2 * pause, std::chrono::milliseconds(5000))) {
    begin_save(s, step);
    const shared_error failed = end_save().failure();
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

}}}  // namespace pinion::v0::train
