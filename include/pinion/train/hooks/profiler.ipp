// Bodies of <pinion/train/hooks/profiler.hpp>.
#pragma once

#include <filesystem>
#include <utility>

#include <pinion/files/folder.hpp>
#include <pinion/train/hooks/profiler.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(profiler)

PINION_DECL profiler::profiler(profiler_options o)
    : o_(std::move(o)), timer_(o_.save_steps, o_.save_secs, "profiler"), files_("timelines", o_.warn, false) {
  o_.output_dir = files::absolute_path(o_.output_dir.empty() ? "." : o_.output_dir).string();
}

PINION_DECL run_request profiler::before_run(run_context&) {
  asked_ = next_ && timer_.due(*next_);
  run_request r = step_.request();
  if (asked_) r.trace = &trace_;
  return r;
}

PINION_DECL void profiler::after_run(run_context& c, std::span<const any_tensor> values) {
  const std::int64_t stale = step_.fetched(values);
  if (!next_) timer_.done(stale);
  std::int64_t now = stale + 1;
  if (asked_) {
    now = step_.read(c.session());
    timer_.done(now);
    save(now);
  }
  next_ = now + 1;
}

PINION_DECL void profiler::save(std::int64_t step) {
  files_.survive([&] {
    files::make_folder(o_.output_dir);
    trace_.save(std::filesystem::path(o_.output_dir) / ("timeline-" + std::to_string(step) + ".json"));
  });
  trace_ = {};
}

}}}  // namespace pinion::v0::train
