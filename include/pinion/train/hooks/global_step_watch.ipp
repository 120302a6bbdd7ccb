// Bodies of <pinion/train/hooks/global_step_watch.hpp>.
#pragma once

#include <pinion/train/hooks/global_step_watch.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::optional<std::int64_t> global_step_watch::read_if_due(const step_timer& timer, run_context& c,
                                                                       std::span<const any_tensor> values) const {
  return read_if([&timer](std::int64_t step) { return timer.due(step); }, c, values);
}

}}}  // namespace pinion::v0::train
