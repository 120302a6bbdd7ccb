// Says how fast training goes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinion/runtime/options.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>
#include <pinion/train/summary/summary_writer.hpp>

namespace pinion::inline v0::train {

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
  explicit step_counter(step_counter_options o)
      : o_(std::move(o)),
        timer_(o_.every_n_steps || o_.every_n_secs ? o_.every_n_steps : 100, o_.every_n_secs, "step_counter"),
        curve_("the curve of steps a second", o_.warn, true) {}
  void begin() { step_.begin(); }
  run_request before_run(run_context&) { return step_.request(); }
  void after_run(run_context& c, std::span<const any_tensor> values) {
    warn_of_standstill(step_.fetched(values));
    const auto now = step_.read_if_due(timer_, c, values);
    if (!now) return;
    const auto passed = timer_.done(*now);
    if (!passed || passed->seconds <= 0) return;
    const double rate = static_cast<double>(passed->steps) / passed->seconds;
    if (o_.writer) curve_.survive([&] { o_.writer->add_scalar("global_step/sec", static_cast<float>(rate), *now); });
    if (o_.log) say(*now, rate);
  }

 private:
  void warn_of_standstill(std::int64_t step) {
    runs_at_ = step == std::exchange(at_, step) ? runs_at_ + 1 : 0;
    if (runs_at_ != 100) return;
    const std::string line = fmt::format(
        "the global step has been {} for 100 runs: does what trains count it, as minimize(loss, {{.global_step}}) "
        "does?",
        step);
    tell(o_.warn, line);
  }
  void say(std::int64_t step, double rate) {
    const auto now = step_timer::clock::now();
    if (said_ && now - *said_ < std::chrono::duration<double>(o_.least_secs)) return;
    said_ = now;
    o_.log(fmt::format("step {}, {:.4g} steps/s", step, rate));
  }

  step_counter_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble curve_;
  std::optional<step_timer::clock::time_point> said_;
  std::int64_t at_ = -1;
  int runs_at_ = 0;
};

}  // namespace pinion::inline v0::train
