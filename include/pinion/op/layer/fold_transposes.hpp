// Folds transpositions into matrix products, which then read the matrix the other way round.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

int fold_transposes(draft& d);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/layer/fold_transposes.ipp>
#endif
