// Nodes whose inputs are constants are computed once, before the step runs; so are shapes that are known.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/optimize/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// In all, milliseconds of work: no deadline stops it.
inline constexpr double most_folded_operations = 1 << 23;

// Results of more than `limit` bytes are left to be computed: a constant is kept for as long as its step. So is what
// takes long.
int fold_constants(draft& d, std::int64_t limit);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/fold_constants.ipp>
#endif
