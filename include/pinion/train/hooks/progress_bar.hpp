// The hook that shows how far training is.
//
//   tr::progress_bar({.total_steps = 10000, .loss = loss})
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

// The options of progress_bar.
struct progress_bar_options {
  // The number of steps that training takes; 0: unknown, so no percentage and no time left are shown.
  std::int64_t total_steps = 0;
  // A scalar loss, float or double, to be shown too; empty: none.
  any_expr loss = {};
  // Receives lines. Empty: they go to standard error, and on a terminal one line is redrawn.
  text_sink log = {};
  // The seconds from one line to the next; a terminal is redrawn five times a second.
  double every_secs = 10;
};

// Shows the global step, its rate and the time left: "1200/10000 steps, 12%, 350 steps/s, loss 0.123, 25 s left". The
// rate is the mean since the first step of this hook. Only the thread of its session uses it. It throws nothing of its
// own.
class progress_bar {
 public:
  explicit progress_bar(progress_bar_options o) : o_(std::move(o)), redraws_(!o_.log && ::isatty(STDERR_FILENO)) {}
  void begin() { step_.begin(); }
  // Fetches the global step and the loss.
  run_request before_run(run_context&);
  // Shows the line, if that is due.
  void after_run(run_context&, std::span<const any_tensor> values);
  // Shows the last line.
  void end(session&);

 private:
  using clock = std::chrono::steady_clock;
  // The step and the loss at a time.
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
