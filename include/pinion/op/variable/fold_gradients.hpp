// Folds products into the updates that alone read them as a gradient: an update then follows each block of rows while
// it is in cache, and the whole gradient is never in memory.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Requires: uses are counted. Returns how many products were folded.
int fold_gradients(draft& d);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/variable/fold_gradients.ipp>
#endif
