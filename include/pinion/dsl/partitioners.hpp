// Into how many parts a variable is cut along its first axis, and which rows each of them gets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion::inline v0 {

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

  int operator()(const shape& extent, dtype type) const {
    if (max_shard_bytes < 1 || max_shards < 0)
      throw error(errc::invalid_argument, "a variable_axis_size_partitioner of " + std::to_string(max_shard_bytes) +
                                              " bytes, at most " + std::to_string(max_shards) +
                                              " parts; the bytes are positive, and 0 parts is no limit");
    const std::int64_t row = extent.count() / extent[0] * static_cast<std::int64_t>(size_of(type));
    const std::int64_t together = std::max<std::int64_t>(1, max_shard_bytes / std::max<std::int64_t>(1, row));
    const std::int64_t parts = (extent[0] - 1) / together + 1;
    return static_cast<int>(std::min<std::int64_t>(parts, max_shards > 0 ? max_shards : 1 << 16));
  }
};

// One for every min_slice_size bytes begun, at most max_partitions.
struct min_max_variable_partitioner {
  int max_partitions = 1;
  std::int64_t min_slice_size = 256 << 10;

  int operator()(const shape& extent, dtype type) const {
    if (max_partitions < 1 || min_slice_size < 1)
      throw error(errc::invalid_argument, "a min_max_variable_partitioner of at most " +
                                              std::to_string(max_partitions) + " parts and at least " +
                                              std::to_string(min_slice_size) + " bytes each; both are positive");
    const std::int64_t bytes = extent.count() * static_cast<std::int64_t>(size_of(type));
    const std::int64_t most = std::min<std::int64_t>(extent[0], max_partitions);
    return static_cast<int>(std::clamp<std::int64_t>((bytes + min_slice_size - 1) / min_slice_size, 1, most));
  }
};

// As many as there can be where each has at least so many rows, at most max_partitions. (TensorFlow has none like it.)
struct min_rows_partitioner {
  std::int64_t min_rows = 1;
  int max_partitions = 1;

  int operator()(const shape& extent, dtype) const {
    if (max_partitions < 1 || min_rows < 1)
      throw error(errc::invalid_argument, "a min_rows_partitioner of at least " + std::to_string(min_rows) +
                                              " rows and at most " + std::to_string(max_partitions) +
                                              " parts; both are positive");
    return static_cast<int>(std::clamp<std::int64_t>(extent[0] / min_rows, 1, max_partitions));
  }
};

// Rows [first, first + count).
struct row_range {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const row_range&, const row_range&) = default;
};

// The rows of each part: as many in all as can be, one more in the first ones where they do not come out even. Throws
// invalid_argument unless each gets one.
inline std::vector<row_range> cut_rows(std::int64_t rows, int parts) {
  if (parts < 1 || parts > rows)
    throw error(errc::invalid_argument, std::to_string(rows) + (rows == 1 ? " row" : " rows") + " in " +
                                            std::to_string(parts) + (parts == 1 ? " part" : " parts") +
                                            "; there is one part at least, and a row for each");
  std::vector<row_range> all;
  for (std::int64_t i = 0, first = 0; i < parts; ++i) {
    all.push_back({first, rows / parts + (i < rows % parts)});
    first += all.back().count;
  }
  return all;
}

}  // namespace pinion::inline v0
