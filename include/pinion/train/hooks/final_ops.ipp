// Bodies of <pinion/train/hooks/final_ops.hpp>.
#pragma once

#include <utility>

#include <pinion/train/hooks/final_ops.hpp>

namespace pinion::inline v0::train {

PINION_HOLD_HOOK(final_ops)

PINION_DECL final_ops::final_ops(run_request request)
    : state_(std::make_shared<state>(state{std::move(request), {}})) {}

}  // namespace pinion::inline v0::train
