// Bodies of <pinion/train/hooks/final_ops.hpp>.
#pragma once

#include <utility>

#include <pinion/train/hooks/final_ops.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(final_ops)

PINION_DECL final_ops::final_ops(run_request request)
    : state_(std::make_shared<state>(state{std::move(request), {}})) {}

}}}  // namespace pinion::v0::train
