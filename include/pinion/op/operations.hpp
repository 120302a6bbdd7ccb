// The most operations that a node takes, for those who let nothing run that takes long.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

// What its op counts as its work, and no less than one operation for each element that it reads or yields. Infinite
// where a shape is not known. A kernel of the library takes no more than this, in nanoseconds each; one of the
// program's own and a body may take any time.
double operations_of(graph_view g, const node& n);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/operations.ipp>
#endif
