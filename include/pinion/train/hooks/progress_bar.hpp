// Shows how far training is.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinion/runtime/options.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion::inline v0::train {

struct progress_bar_options {
  std::int64_t total_steps = 0;  // 0: not known
  any_expr loss = {};            // shown beside, if given
  text_sink log = {};            // gets lines; where empty: standard error, a line that is redrawn on a terminal
  double every_secs = 10;        // between lines; a terminal is redrawn five times a second
};

// "1200/10000 steps, 12%, 350 steps/s, loss 0.123, 25 s left". Of the global step.
class progress_bar {
 public:
  explicit progress_bar(progress_bar_options o) : o_(std::move(o)), redraws_(!o_.log && ::isatty(STDERR_FILENO)) {}
  void begin() { step_.begin(); }
  run_request before_run(run_context&) {
    run_request r = step_.request();
    if (!o_.loss.empty()) r.fetches.push_back(o_.loss);
    return r;
  }
  void after_run(run_context&, std::span<const any_tensor> values) {
    last_ = {clock::now(), global_step_watch::fetched(values), values.size() > 1 ? values[1] : any_tensor()};
    if (!first_) first_ = last_;
    if (last_.when - shown_ < std::chrono::duration<double>(redraws_ ? .2 : o_.every_secs)) return;
    shown_ = last_.when;
    show(redraws_ ? "\r" : "", redraws_ ? "\033[K" : "\n");
  }
  void end(session&) {
    if (first_) show(redraws_ ? "\r" : "", redraws_ ? "\033[K\n" : "\n");
  }

 private:
  using clock = std::chrono::steady_clock;
  struct sight {
    clock::time_point when;
    std::int64_t step = 0;
    any_tensor loss;
  };
  void show(const char* before, const char* behind) const {
    o_.log ? o_.log(text()) : fmt::print(stderr, "{}{}{}", before, text(), behind);
  }
  std::string text() const {
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

  progress_bar_options o_;
  global_step_watch step_;
  bool redraws_;
  std::optional<sight> first_;
  sight last_;
  clock::time_point shown_{};
};

}  // namespace pinion::inline v0::train
