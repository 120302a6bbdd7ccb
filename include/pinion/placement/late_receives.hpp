// The rule by which a device receives values of other devices late, so that fewer of them wait for their readers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// `bytes` has the sizes of the values that a device receives, in the order of their first readers. A value is received
// once those before it whose first readers have not ended make, with it, no more than `ahead` bytes; a larger one waits
// for all before it. Returns for each the last value whose first reader must have ended; -1: it need not wait. Nothing
// waits where `ahead` is 0.
std::vector<int> late_receives(std::span<const std::int64_t> bytes, std::int64_t ahead);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/late_receives.ipp>
#endif
