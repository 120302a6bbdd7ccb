// Joins elementwise nodes: a node that is read by one other elementwise node only becomes part of it. The DSL does this
// within an expression; this pass does it across expressions, and for the gradients of such nodes.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Joins nodes and returns how many were joined. Two nodes are joined if the values of the first have the shape of the
// second's space in every run, so that nothing is computed more often than before. It leaves two nodes apart if one has
// a compiled kernel and their joined program has none, and notes in the draft why it left a node apart that it looked
// at. An error in the shapes of a node that was joined names that node. Requires: uses are counted.
int compose_maps(draft& d);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/compose_maps.ipp>
#endif
