// Bodies of <pinion/train/hooks/step_counter.hpp>.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinion/train/hooks/step_counter.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(step_counter)

PINION_DECL step_counter::step_counter(step_counter_options o)
    : o_(std::move(o)),
      timer_(o_.every_n_steps || o_.every_n_secs ? o_.every_n_steps : 100, o_.every_n_secs, "step_counter"),
      curve_("the curve of steps a second", o_.warn, true) {}

PINION_DECL void step_counter::after_run(run_context& c, std::span<const any_tensor> values) {
  warn_of_standstill(step_.fetched(values));
  const auto now = step_.read_if_due(timer_, c, values);
  if (!now) return;
  const auto passed = timer_.done(*now);
  if (!passed || passed->seconds <= 0) return;
  const double rate = static_cast<double>(passed->steps) / passed->seconds;
  if (o_.writer) curve_.survive([&] { o_.writer->add_scalar("global_step/sec", static_cast<float>(rate), *now); });
  if (o_.log) say(*now, rate);
}

PINION_DECL void step_counter::warn_of_standstill(std::int64_t step) {
  runs_at_ = step == std::exchange(at_, step) ? runs_at_ + 1 : 0;
  if (runs_at_ != 100) return;
  const std::string line = fmt::format(
      "the global step has been {} for 100 runs: does what trains count it, as minimize(loss, {{.global_step}}) "
      "does?",
      step);
  tell(o_.warn, line);
}

PINION_DECL void step_counter::say(std::int64_t step, double rate) {
  const auto now = step_timer::clock::now();
  if (said_ && now - *said_ < std::chrono::duration<double>(o_.least_secs)) return;
  said_ = now;
  o_.log(fmt::format("step {}, {:.4g} steps/s", step, rate));
}

}}}  // namespace pinion::v0::train
