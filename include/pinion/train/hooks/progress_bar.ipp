// Bodies of <pinion/train/hooks/progress_bar.hpp>.
#pragma once

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <pinion/train/hooks/progress_bar.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(progress_bar)

PINION_DECL run_request progress_bar::before_run(run_context&) {
  run_request r = step_.request();
  if (!o_.loss.empty()) r.fetches.push_back(o_.loss);
  return r;
}

PINION_DECL void progress_bar::after_run(run_context&, std::span<const any_tensor> values) {
  last_ = {clock::now(), global_step_watch::fetched(values), values.size() > 1 ? values[1] : any_tensor()};
  if (!first_) first_ = last_;
  if (last_.when - shown_ < std::chrono::duration<double>(redraws_ ? .2 : o_.every_secs)) return;
  shown_ = last_.when;
  show(redraws_ ? "\r" : "", redraws_ ? "\033[K" : "\n");
}

PINION_DECL void progress_bar::end(session&) {
  if (first_) show(redraws_ ? "\r" : "", redraws_ ? "\033[K\n" : "\n");
}

PINION_DECL void progress_bar::show(const char* before, const char* behind) const {
  o_.log ? o_.log(text()) : fmt::print(stderr, "{}{}{}", before, text(), behind);
}

PINION_DECL std::string progress_bar::text() const {
  const auto& [now, step, loss] = last_;
  const double seconds = std::chrono::duration<double>(now - first_->when).count();
  const double rate = seconds > 0 ? static_cast<double>(step - first_->step) / seconds : 0;
  std::string line = o_.total_steps > 0 ? fmt::format("{}/{} steps, {}%", step, o_.total_steps,
                                                      std::min<std::int64_t>(100, 100 * step / o_.total_steps))
                                        : fmt::format("{} steps", step);
  if (rate > 0) line += fmt::format(", {:.4g} steps/s", rate);
  if (loss.dtype() == dtype::float32 && loss.count() == 1) line += fmt::format(", loss {:.4g}", *loss.data<float>());
  if (loss.dtype() == dtype::float64 && loss.count() == 1) line += fmt::format(", loss {:.4g}", *loss.data<double>());
  if (rate > 0 && step < o_.total_steps)
    line += fmt::format(", {:.0f} s left", static_cast<double>(o_.total_steps - step) / rate);
  return line;
}

}}}  // namespace pinion::v0::train
