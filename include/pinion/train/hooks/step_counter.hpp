// Says how fast training goes.
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

struct step_counter_options {
  std::optional<std::int64_t> every_n_steps = {};  // 100 where no seconds are given either
  std::optional<double> every_n_secs = {};
  std::shared_ptr<summary_writer> writer = {};  // gets "global_step/sec"
  text_sink log = {};                           // gets lines, "step 2000, 350 steps/s"; none where empty
  double least_secs = 0;                        // from one of these lines to the next
  text_sink warn = {};                          // is told of trouble; standard error where empty
};

// Global steps a second, those of all workers. Warns, once, when 100 runs in a row have not counted the step. A disk
// that fails is told of, and training goes on.
class step_counter {
 public:
  explicit step_counter(step_counter_options o);
  void begin() { step_.begin(); }
  run_request before_run(run_context&) { return step_.request(); }
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
