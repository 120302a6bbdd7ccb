// Partitioners: the number of parts that a variable is cut into along its first axis, and the rows of each part.
//
//   pn::partitioned_variable<float> table({1000, 64}, pn::nn::zeros_initializer(),
//                                         {.name = "table", .partition = pn::min_rows_partitioner{100, 8}});
//
//   [1000, 64] of float      fixed_size_partitioner{3}                        334, 333, 333 rows
//   (256000 bytes)           variable_axis_size_partitioner{100000}           3 parts, of at most 390 rows each
//                            min_max_variable_partitioner{8, 64 << 10}        4 parts, one for each 64 KiB begun
//                            min_rows_partitioner{300, 8}                     3 parts, of at least 300 rows each
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

// A callable that takes the shape and dtype of a variable and returns the number of its parts. It is called once, when
// the variable is made, with a known shape of at least one row. The partitioners below are values; a user's own may
// take their place. Source: TensorFlow 1.15, partitioned_variables.py. Its answer must lie between 1 and the number of
// rows, and partitioned_variable throws invalid_argument otherwise.
//
//   const pn::partitioner halves = [](const pn::shape& s, pn::dtype) { return s[0] >= 2 ? 2 : 1; };
using partitioner = std::function<int(const shape&, dtype)>;

// Cuts every variable into `parts` parts. Rows are dealt out evenly, see cut_rows. TensorFlow:
// tf.fixed_size_partitioner.
struct fixed_size_partitioner {
  int parts = 1;
  int operator()(const shape&, dtype) const { return parts; }
};

// Cuts into the fewest parts that have at most max_shard_bytes each; a part has at least one row, however large. There
// are at most max_shards parts, unless that is 0. The bytes are those of one dtype's elements, 4 for float. Throws
// invalid_argument unless max_shard_bytes is positive.
struct variable_axis_size_partitioner {
  std::int64_t max_shard_bytes = 0;
  int max_shards = 0;

  int operator()(const shape& extent, dtype type) const;
};

// Cuts into one part for every min_slice_size bytes begun, at most max_partitions. The default slice is 256 KiB, as in
// TensorFlow. It never makes more parts than rows. Throws invalid_argument unless both numbers are positive.
struct min_max_variable_partitioner {
  int max_partitions = 1;
  std::int64_t min_slice_size = 256 << 10;

  int operator()(const shape& extent, dtype type) const;
};

// Cuts into the most parts that have at least min_rows rows each, at most max_partitions. TensorFlow has no
// counterpart. It keeps small tables whole. Throws invalid_argument unless both numbers are positive.
struct min_rows_partitioner {
  std::int64_t min_rows = 1;
  int max_partitions = 1;

  int operator()(const shape& extent, dtype) const;
};

// The rows [first, first + count).
struct row_range {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const row_range&, const row_range&) = default;
};

// The rows of each part: equal numbers, with one more in each of the first parts where `rows` is no multiple of
// `parts`. Throws invalid_argument unless each part gets a row. Seven rows in three parts are {0, 3}, {3, 2}, {5, 2}.
std::vector<row_range> cut_rows(std::int64_t rows, int parts);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/nn/partitioners.ipp>
#endif
