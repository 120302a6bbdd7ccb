// The walk of an elementwise kernel that nvcc has compiled. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

#include <pinion/device/cuda/first_wrong.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// The space of a run, outermost dimension first, and its operands: the inputs, then the results. Strides count
// elements. An input may have the memory of a result if both move alike.
struct map_walk {
  static constexpr int most_rank = 8, most_operands = 72;
  struct operand {
    void* address;
    std::int64_t stride[most_rank];
  };
  int rank, inputs;
  std::int64_t extent[most_rank];
  operand operands[most_operands];
  wrong_places guard;  // nothing is written if one of them has a wrong value

  std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
};

}}}  // namespace pinion::v0::cuda
