// Elementwise nodes that were stored one by one, each read by the next alone, become one: what the DSL does within an
// expression, beyond it.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/runtime/optimize/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Requires: uses are counted. A compiled kernel is not given up for the interpreter, and nothing is computed more often
// than before: the shapes of both are known to be the same.
int compose_maps(draft& d);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/compose_maps.ipp>
#endif
