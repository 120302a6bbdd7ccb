// Folds transpositions into matrix products, which then read the matrix the other way round.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/runtime/optimize/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

int fold_transposes(draft& d);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/fold_transposes.ipp>
#endif
