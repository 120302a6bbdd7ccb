// Grids of CUDA kernels on one OS thread: blocks one after another, and their threads in turn between barriers.
#pragma once

#include <functional>

#include "block.hpp"
#include "control.hpp"

namespace fake_cuda {

struct grid {
  place blocks, threads;
  std::function<variables()> variables_of_unit;  // for the calling OS thread
  std::function<void()> thread;                  // what each thread does
};

// Runs a grid of one dimension to its end. A barrier that some threads of a block do not reach is reported as misuse,
// and the others go on as if it were none.
void run(const grid& work, turns order);

}  // namespace fake_cuda
