// Bodies of <pinion/distributed/worker/step_counts.hpp>.
#pragma once

#include <algorithm>
#include <chrono>

#include <pinion/distributed/worker/step_counts.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void step_counts::ended(bool well, time_point now) {
  ended_.fetch_add(1, std::memory_order_relaxed);
  if (!well) failed_.fetch_add(1, std::memory_order_relaxed);
  last_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  const std::uint64_t second = second_of(now);
  auto& count = seconds_[second % seconds_.size()];
  for (auto seen = count.load(std::memory_order_relaxed);;) {
    const std::uint64_t before = seen >> 32 == second ? seen : second << 32;
    if (count.compare_exchange_weak(seen, before + 1, std::memory_order_relaxed)) return;
  }
}

PINION_DECL step_report step_counts::report(time_point now) const {
  const std::uint32_t second = second_of(now), whole = std::clamp(second, std::uint32_t{1}, window);
  // Within the first second there is only that one; later the present one is not over, and so it is left out.
  const std::uint32_t until = std::max(second, std::uint32_t{1});
  std::uint64_t steps = 0;
  for (const auto& count : seconds_) {
    const auto seen = count.load(std::memory_order_relaxed), of = seen >> 32;
    if (of < until && of + whole >= until) steps += seen & 0xffff'ffff;
  }
  return {.ended = ended_.load(std::memory_order_relaxed),
          .failed = failed_.load(std::memory_order_relaxed),
          .per_second = static_cast<double>(steps) / whole};
}

PINION_DECL std::uint32_t step_counts::second_of(time_point t) const {
  return static_cast<std::uint32_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(t - began_).count(), 0));
}

}}}  // namespace pinion::v0::distributed
