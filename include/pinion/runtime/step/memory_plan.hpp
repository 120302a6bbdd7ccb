// Places of blocks in one stretch of memory, chosen from the times at which the blocks are in use.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A block of memory and the moments in which it is in use: from `begin` until before `end`. Moments number the events
// of a run.
struct block_life {
  std::size_t bytes = 0;
  int begin = 0, end = 0;
};

// Offsets for blocks such that two blocks that are in use at the same moment have no byte in common. A value.
//
// Offsets are multiples of `alignment`. They are found by "greedy by size" (Pisarchyk and Lee, Efficient memory
// management for deep neural net inference, 2020): the largest block first, each in the smallest gap that has room for
// it among the blocks that live beside it. The same is tried with the greatest product of size and time first, and the
// smaller memory counts. That takes the square of the number of blocks, so of many blocks only the largest are placed
// so. The others share offsets with blocks of their own size behind these.
struct memory_plan {
  static constexpr std::size_t alignment = 64;

  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;  // of the whole memory
  std::size_t live = 0;   // the most bytes in use at one moment; no plan needs fewer
};

memory_plan plan_memory(std::span<const block_life> blocks);

// For each block other blocks, by their numbers: those of block i are all[first[i]] to all[first[i + 1] - 1].
struct block_lists {
  std::vector<int> first, all;
};

// The blocks that had a byte of a block's memory last, before it begins. If these are no longer in use, no earlier
// block at that place is. Requires: the blocks are in the order in which they begin.
block_lists formers_of(std::span<const block_life> blocks, const memory_plan& plan);
// The blocks that have a byte in common with a block.
block_lists neighbours_of(std::span<const block_life> blocks, const memory_plan& plan);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/memory_plan.ipp>
#endif
