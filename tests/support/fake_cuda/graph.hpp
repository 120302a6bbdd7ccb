// Graphs of the stand-in: the tasks that streams were given while they were captured.
#pragma once

#include <memory>
#include <vector>

#include <driver_types.h>

#include "stream.hpp"

namespace fake_cuda {

// In the order of the calls, which is one that all waits between the captured streams allow.
struct graph {
  std::vector<task> tasks;
  CUstream_st* origin = nullptr;
};

}  // namespace fake_cuda
