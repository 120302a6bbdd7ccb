// Bodies of <pinion/nn/partitioners.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/nn/partitioners.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL int variable_axis_size_partitioner::operator()(const shape& extent, dtype type) const {
  if (max_shard_bytes < 1 || max_shards < 0)
    throw error(errc::invalid_argument, "a variable_axis_size_partitioner of " + std::to_string(max_shard_bytes) +
                                            " bytes, at most " + std::to_string(max_shards) +
                                            " parts; the bytes are positive, and 0 parts is no limit");
  const std::int64_t row = extent.count() / extent[0] * static_cast<std::int64_t>(size_of(type));
  const std::int64_t together = std::max<std::int64_t>(1, max_shard_bytes / std::max<std::int64_t>(1, row));
  const std::int64_t parts = (extent[0] - 1) / together + 1;
  return static_cast<int>(std::min<std::int64_t>(parts, max_shards > 0 ? max_shards : 1 << 16));
}

PINION_DECL int min_max_variable_partitioner::operator()(const shape& extent, dtype type) const {
  if (max_partitions < 1 || min_slice_size < 1)
    throw error(errc::invalid_argument, "a min_max_variable_partitioner of at most " + std::to_string(max_partitions) +
                                            " parts and at least " + std::to_string(min_slice_size) +
                                            " bytes each; both are positive");
  const std::int64_t bytes = extent.count() * static_cast<std::int64_t>(size_of(type));
  const std::int64_t most = std::min<std::int64_t>(extent[0], max_partitions);
  return static_cast<int>(std::clamp<std::int64_t>((bytes + min_slice_size - 1) / min_slice_size, 1, most));
}

PINION_DECL int min_rows_partitioner::operator()(const shape& extent, dtype) const {
  if (max_partitions < 1 || min_rows < 1)
    throw error(errc::invalid_argument, "a min_rows_partitioner of at least " + std::to_string(min_rows) +
                                            " rows and at most " + std::to_string(max_partitions) +
                                            " parts; both are positive");
  return static_cast<int>(std::clamp<std::int64_t>(extent[0] / min_rows, 1, max_partitions));
}

PINION_DECL std::vector<row_range> cut_rows(std::int64_t rows, int parts) {
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

}}  // namespace pinion::v0
