// Says how fast training goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinion/runtime/options.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/hook.hpp>
#include <pinion/train/step_timer.hpp>
#include <pinion/train/summary_writer.hpp>

namespace pinion::inline v0::train {

struct step_counter_options {
  std::optional<std::int64_t> every_n_steps = {};  // 100 where no seconds are given either
  std::optional<double> every_n_secs = {};
  std::shared_ptr<summary_writer> writer = {};  // gets "global_step/sec"
  text_sink log = {};                           // gets lines; none where empty
};

// Global steps a second, those of all workers.
class step_counter {
 public:
  explicit step_counter(step_counter_options o)
      : o_(std::move(o)),
        timer_(o_.every_n_steps || o_.every_n_secs ? o_.every_n_steps : 100, o_.every_n_secs, "step_counter") {}
  void begin() { step_ = get_or_create_global_step(); }
  run_request before_run(run_context&) { return {.fetches = {dsl::endpoint_of(step_)}}; }
  void after_run(run_context& c, std::span<const any_tensor> values) {
    if (!timer_.due(*values[0].data<std::int64_t>() + 1)) return;
    const std::int64_t now = std::int64_t(c.session().run(step_));
    if (!timer_.due(now)) return;
    const auto passed = timer_.done(now);
    if (!passed || passed->seconds <= 0) return;
    const double rate = static_cast<double>(passed->steps) / passed->seconds;
    if (o_.writer) o_.writer->add_scalar("global_step/sec", static_cast<float>(rate), now);
    if (o_.log) o_.log(fmt::format("global_step/sec: {:.6g}", rate));
  }

 private:
  step_counter_options o_;
  step_timer timer_;
  variable_handle<std::int64_t> step_;
};

}  // namespace pinion::inline v0::train
