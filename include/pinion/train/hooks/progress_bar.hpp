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
#include <pinion/train/global_step.hpp>
#include <pinion/train/hook.hpp>

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
  explicit progress_bar(progress_bar_options o) : o_(std::move(o)) {}
  void begin() { step_ = get_or_create_global_step(); }
  run_request before_run(run_context&) {
    run_request r{.fetches = {dsl::endpoint_of(step_)}};
    if (!o_.loss.empty()) r.fetches.push_back(o_.loss);
    return r;
  }
  void after_run(run_context&, std::span<const any_tensor> values) {
    const auto now = clock::now();
    const std::int64_t step = *values[0].data<std::int64_t>();
    if (!first_) first_ = {now, step};
    last_ = text(step, now, values.size() > 1 ? &values[1] : nullptr);
    const bool terminal = !o_.log && ::isatty(STDERR_FILENO);
    if (now - shown_ < std::chrono::duration<double>(terminal ? .2 : o_.every_secs)) return;
    shown_ = now;
    show(terminal ? "\r" : "", terminal ? "\033[K" : "\n");
  }
  void end(session&) {
    const bool terminal = ::isatty(STDERR_FILENO);
    show(terminal ? "\r" : "", terminal ? "\033[K\n" : "\n");
  }

 private:
  using clock = std::chrono::steady_clock;
  void show(const char* before, const char* behind) const {
    o_.log ? o_.log(last_) : fmt::print(stderr, "{}{}{}", before, last_, behind);
  }
  std::string text(std::int64_t step, clock::time_point now, const any_tensor* loss) const {
    const double seconds = std::chrono::duration<double>(now - first_->first).count();
    const double rate = seconds > 0 ? static_cast<double>(step - first_->second) / seconds : 0;
    std::string line = o_.total_steps > 0 ? fmt::format("{}/{} steps, {}%", step, o_.total_steps,
                                                        std::min<std::int64_t>(100, 100 * step / o_.total_steps))
                                          : fmt::format("{} steps", step);
    if (rate > 0) line += fmt::format(", {:.4g} steps/s", rate);
    if (loss && loss->count() == 1 && is_floating(loss->dtype()))
      line += fmt::format(", loss {:.4g}",
                          loss->dtype() == dtype::float32 ? double(*loss->data<float>()) : *loss->data<double>());
    if (rate > 0 && step < o_.total_steps)
      line += fmt::format(", {:.0f} s left", static_cast<double>(o_.total_steps - step) / rate);
    return line;
  }

  progress_bar_options o_;
  variable_handle<std::int64_t> step_;
  std::optional<std::pair<clock::time_point, std::int64_t>> first_;
  clock::time_point shown_{};
  std::string last_;
};

}  // namespace pinion::inline v0::train
