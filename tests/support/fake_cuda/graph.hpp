// Graphs of the stand-in: the tasks that streams are given while they are captured.
#pragma once

#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <driver_types.h>

#include "stream.hpp"

// A graph has the order of the calls, which is one that the waits between its streams allow. Streams may be captured
// into it while it has an origin, by one thread at a time.
struct CUgraph_st {
  // A stream of the capture: its tasks, and how many of them the first stream has waited for.
  struct branch {
    std::size_t tasks = 0, waited_for = 0;
  };

  std::vector<fake_cuda::task> tasks;
  std::vector<const void*> addresses;  // in memory of CUDA, that the tasks use
  cudaStream_t origin = nullptr;
  std::map<cudaStream_t, branch> branches;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id begun_by;
  bool is_invalid = false;
};

// A graph that can be launched. Its launches run one after another.
struct CUgraphExec_st {
  ~CUgraphExec_st();

  std::vector<fake_cuda::task> tasks;
  std::vector<const void*> addresses;
  std::mutex mutex;
};
