// Joins elementwise nodes: a node that is read by one other elementwise node only becomes part of it. The DSL does this
// within an expression; this pass does it across expressions.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/runtime/optimize/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Joins nodes and returns how many were joined. Leaves two nodes apart if one has a compiled kernel and their joined
// program has none. Computes nothing more often than before, since the shapes of joined nodes are known to be equal.
// Requires: uses are counted.
int compose_maps(draft& d);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/compose_maps.ipp>
#endif
