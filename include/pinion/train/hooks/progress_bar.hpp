// Shows how far training is.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

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
  run_request before_run(run_context&);
  void after_run(run_context&, std::span<const any_tensor> values);
  void end(session&);

 private:
  using clock = std::chrono::steady_clock;
  struct sight {
    clock::time_point when;
    std::int64_t step = 0;
    any_tensor loss;
  };
  void show(const char* before, const char* behind) const;
  std::string text() const;

  progress_bar_options o_;
  global_step_watch step_;
  bool redraws_;
  std::optional<sight> first_;
  sight last_;
  clock::time_point shown_{};
};
PINION_HELD_HOOK(progress_bar)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/progress_bar.ipp>
#endif
