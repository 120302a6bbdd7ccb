// Kernels whose code is made while the program runs.
#pragma once

#include <span>

#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

// A kernel that tells what code it will want, so that the code of a step is made together, while the step is made
// ready.
class announcing_kernel : public kernel {
 public:
  // Announces the code of runs over the shapes that the graph knows. `wanted`: one flag per output. Called once, before
  // the first run.
  virtual void announce(std::span<const unsigned char> wanted) = 0;
};

}}  // namespace pinion::v0
