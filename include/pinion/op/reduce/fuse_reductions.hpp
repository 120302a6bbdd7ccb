// Computes the elements that a reduction folds inside the reduction, so that they are never in memory, and leaves the
// gradient of a reduction over all axes the one number that it is.
//
//   Sum(Mul(x, y))                      MapReduce(x, y)
//   MapGrad(x, y, ExpandLike(dy, z))    MapGrad(x, y, ExpandLike(dy, x, y)), where z = Mul(x, y) is no longer computed
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Joins reductions of floating-point numbers on CPUs with the elementwise nodes that only they read, and returns how
// many. Of other elementwise nodes that a reduction reads it notes in the draft why they are left. No bit of a result
// changes. Requires: uses are counted.
int fuse_reductions(draft& d);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/reduce/fuse_reductions.ipp>
#endif
