// Copies that a step makes within the memory of a GPU.
#pragma once

#include <cstddef>

namespace pinion { inline namespace v0 { namespace cuda {

// A copy from one place of a GPU's memory to another. Those that are made together do not overlap.
struct bytes_copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

}}}  // namespace pinion::v0::cuda
