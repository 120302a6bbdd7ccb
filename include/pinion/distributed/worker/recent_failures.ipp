// Bodies of <pinion/distributed/worker/recent_failures.hpp>.
#pragma once

#include <chrono>
#include <utility>

#include <pinion/base/harmless.hpp>
#include <pinion/distributed/worker/recent_failures.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void recent_failures::add(std::string sentence) {
  sentence = harmless(sentence, longest);
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::lock_guard hold(mutex_);
  if (!kept_.empty() && kept_.back().sentence == sentence) {
    kept_.back().time = now;
    ++kept_.back().times;
    return;
  }
  if (kept_.size() == most) kept_.pop_front();
  kept_.push_back({.time = now, .sentence = std::move(sentence)});
}

PINION_DECL void recent_failures::add_step(const error& why) {
  if (why.code() != errc::cancelled && why.code() != errc::out_of_range && !state::is_too_early(why)) add(why.what());
}

PINION_DECL std::vector<failure_report> recent_failures::list() const {
  std::lock_guard hold(mutex_);
  return {kept_.begin(), kept_.end()};
}

}}}  // namespace pinion::v0::distributed
