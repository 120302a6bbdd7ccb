// The most operations that a node takes, for those who let nothing run that takes long.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

// Returns the work that its op counts, and no less than one operation for each element that it reads or yields;
// infinity where a shape is not known, and 0 for an op that hands on what is there. A kernel of the library does no
// more than this. Those of a program's own ops and of bodies may take any time, whatever is counted.
double operations_of(graph_view g, const node& n);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/operations.ipp>
#endif
