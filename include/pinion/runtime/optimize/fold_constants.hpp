// Computes nodes with constant inputs once, before the step runs; also Shape nodes whose shape is known.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Limit of the operations that folding performs for a step: milliseconds of work, since no deadline stops it.
inline constexpr double most_folded_operations = 1 << 23;

// Folds constants and returns how many nodes were folded. Nodes with results of more than `limit` bytes are left, since
// a constant is kept as long as its step, and so are nodes that take long.
int fold_constants(draft& d, std::int64_t limit);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/fold_constants.ipp>
#endif
