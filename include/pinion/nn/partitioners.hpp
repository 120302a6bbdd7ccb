// Into how many parts a variable is cut along its first axis, and which rows each of them gets.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

// A callable from the shape and the dtype of a variable to the number of its parts; one's own is as good as those
// below, which are values. Called once, when the variable is made, with a known shape of at least one row. Sources:
// TensorFlow 1.15, partitioned_variables.py.
using partitioner = std::function<int(const shape&, dtype)>;

// Always so many.
struct fixed_size_partitioner {
  int parts = 1;
  int operator()(const shape&, dtype) const { return parts; }
};

// As many as it takes for none to have more than so many bytes, unless one row has; at most max_shards, if that is not
// 0.
struct variable_axis_size_partitioner {
  std::int64_t max_shard_bytes = 0;
  int max_shards = 0;

  int operator()(const shape& extent, dtype type) const;
};

// One for every min_slice_size bytes begun, at most max_partitions.
struct min_max_variable_partitioner {
  int max_partitions = 1;
  std::int64_t min_slice_size = 256 << 10;

  int operator()(const shape& extent, dtype type) const;
};

// As many as there can be where each has at least so many rows, at most max_partitions. (TensorFlow has none like it.)
struct min_rows_partitioner {
  std::int64_t min_rows = 1;
  int max_partitions = 1;

  int operator()(const shape& extent, dtype) const;
};

// Rows [first, first + count).
struct row_range {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const row_range&, const row_range&) = default;
};

// The rows of each part: as many in all as can be, one more in the first ones where they do not come out even. Throws
// invalid_argument unless each gets one.
std::vector<row_range> cut_rows(std::int64_t rows, int parts);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/nn/partitioners.ipp>
#endif
