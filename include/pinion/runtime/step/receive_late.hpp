// Has the receives of a partition wait until their values are nearly needed.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/runtime/step/part_item.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Adds edges to receives, so that values of about `ahead` bytes at most have come and wait for their first readers; see
// late_receives. Values of unknown size come at once. The order of the items, which is one of the whole step, stays
// one: an edge leads from an earlier reader to the receive of a later one, so no task waits for itself by way of
// another. Nor does a reader wait for another step unless it did before. Time grows with the items and their edges.
void receive_late(std::vector<part_item>& items, graph_view g, std::int64_t ahead);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/receive_late.ipp>
#endif
