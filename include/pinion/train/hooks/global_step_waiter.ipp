// Bodies of <pinion/train/hooks/global_step_waiter.hpp>.
#pragma once

#include <algorithm>
#include <chrono>

#include <pinion/train/hooks/global_step_waiter.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(global_step_waiter)

PINION_DECL void global_step_waiter::before_run(run_context& c) {
  auto pause = std::chrono::milliseconds(10);
  for (; !reached_; pause = std::min(2 * pause, std::chrono::milliseconds(500))) {
    reached_ = step_.read(c.session()) >= until_;
    if (!reached_ && coordinator_->wait_for_stop(pause)) return;
  }
}

}}}  // namespace pinion::v0::train
