// Bodies of <pinion/rpc/pulse.hpp>.
#pragma once

#include <algorithm>

#include <pinion/rpc/pulse.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void pulse::ask() {
  lane_->request(ping_method, message(),
                 {.open =
                      [self = shared_from_this()](const envelope&) {
                        self->answered();
                        return nullptr;
                      },
                  .failed = [](const error&) {}});
  if (unanswered_++ == 0) owed_ = lane_->out().bytes_queued();
}

PINION_DECL void pulse::answered() {
  if (--unanswered_ > 0) owed_ = lane_->out().bytes_queued();
}

PINION_DECL void pulse::look(time_point now) {
  const std::uint64_t progress = lane_->out().progress();
  if (unanswered_ > 0 && progress > progress_ && lane_->out().bytes_taken() < owed_) moved_ = now;
  progress_ = std::max(progress_, progress);
}

PINION_DECL duration pulse::silence(time_point now) const {
  return now - std::max(lane_->in().last_heard(), moved_);
}

}}}  // namespace pinion::v0::rpc
