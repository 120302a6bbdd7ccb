// Variables that are parts of a larger one, as a saver needs them, which writes the parts as one tensor.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// The rows from `first` on of a whole with that name and shape. The variable's shape gives their number. Row `first` of
// the whole is row 0 of the part. A value.
struct variable_slice {
  std::string whole;
  pinion::shape extent;
  std::int64_t first = 0;
};

// The slice of a variable that is a part of a partitioned one, or a slot of such a part; null for any other variable.
// The pointer is valid as long as the graph. Thread-compatible, as the graph is.
const variable_slice* slice_of(graph& g, node_id variable);
// A later note of the same variable replaces the first.
void note_slice(graph& g, node_id variable, variable_slice slice);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/variable/slices.ipp>
#endif
