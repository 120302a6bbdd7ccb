// Grids of CUDA kernels on one OS thread: blocks one after another, and their threads in turn between barriers.
#pragma once

#include <functional>

#include "block.hpp"

namespace fake_cuda {

// The order in which the threads of a block run. Kernels may not depend on it: a barrier that is missing gives
// other results in one of the two.
enum class thread_order { forward, backward };

struct grid {
  place blocks, threads;
  std::function<variables()> variables_of_unit;  // for the calling OS thread
  std::function<void()> thread;                  // what each thread does
};

// Runs a grid of one dimension to its end. A barrier that some threads of a block do not reach is reported as misuse,
// and the others go on as if it were none.
void run(const grid& work, thread_order order);

}  // namespace fake_cuda
