// The hook that measures how fast training goes. A monitored session makes one for its chief.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>
#include <pinion/train/summary/summary_writer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of step_counter. At most one of every_n_steps and every_n_secs is given. A program with a plain session
// has no use for it: it needs the global step and a monitored session.
struct step_counter_options {
  // The number of global steps from one measurement to the next; 100 if no seconds are given either.
  std::optional<std::int64_t> every_n_steps = {};
  // The seconds from one measurement to the next.
  std::optional<double> every_n_secs = {};
  // Receives the curve "global_step/sec"; empty: no curve.
  std::shared_ptr<summary_writer> writer = {};
  // Receives lines such as "step 2000, 350 steps/s"; empty: no lines.
  text_sink log = {};
  // The least number of seconds from one of these lines to the next.
  double least_secs = 0;
  // Receives warnings and errors of the disk; empty: standard error.
  text_sink warn = {};
};

// Measures global steps a second, those of all workers together. It warns once when 100 runs in a row have not counted
// the global step. A disk that fails is reported, and training goes on. Only the thread of its session uses it. It
// shares its writer. Throws invalid_argument if both intervals are given. It follows TensorFlow 1.15's
// StepCounterHook.
class step_counter {
 public:
  // Throws invalid_argument if both intervals are given.
  explicit step_counter(step_counter_options o);
  void begin() { step_.begin(); }
  run_request before_run(run_context&) { return step_.request(); }
  // Measures, if that is due.
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  void warn_of_standstill(std::int64_t step);
  void say(std::int64_t step, double rate);

  step_counter_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble curve_;
  std::optional<step_timer::clock::time_point> said_;
  std::int64_t at_ = -1;
  int runs_at_ = 0;
};
PINION_HELD_HOOK(step_counter)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/step_counter.ipp>
#endif
