// The plan by which a program runs over tiles: its steps, and the rows of scratch memory that their values take.
#pragma once

#include <cstddef>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/tile.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// A step of a plan: the value that it computes, and the values that it reads.
struct planned_step {
  tile_op op;
  value_id value = 0;
  std::vector<value_id> in;
};

// A plan. A leaf takes no row: inputs are read in place. The row of a computed value is free again when its last reader
// begins, so that a step may write over its own operand.
struct tile_plan {
  std::vector<planned_step> steps;
  std::vector<std::size_t> row_of;  // of each value that a step computes
  std::size_t rows = 0;
};

// Plans an executable program. Where `pairs` is true, two cheap instructions run as one step if nothing else reads the
// first one's value.
tile_plan plan_tiles(const program& p, bool pairs);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/tile_plan.ipp>
#endif
