// The words of the stand-in for CUDA (support/fake_cuda/control.hpp) where the runtime is NVIDIA's and the GPU is real.
// Nothing can be set there, so tests that set something are tagged [stand-in] and left out. Nothing is counted either:
// a count agrees with every expectation. Misuses are found by compute-sanitizer (tests/gpu.sh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace fake_cuda {

enum class driver { present, missing, old, without_devices };
enum class thread_order { forward, backward };
enum class code { of_units, that_is_loaded };

// Has no effect.
struct settings {
  int devices = 1;
  std::size_t memory = 0;
  bool has_peer_access = true;
  driver is = driver::present;
  unsigned jitter_us = 0, seed = 1;
  thread_order order = thread_order::forward;
};
inline void reset() {}
// Throws where CUDA shows no GPU, of which a test could only say less.
inline void reset(const settings&) {
  int gpus = 0;
  const cudaError_t failed = cudaGetDeviceCount(&gpus);
  if (failed || gpus == 0) throw std::runtime_error(std::string("CUDA shows no GPU: ") + cudaGetErrorString(failed));
}
inline void fault_next_launch(int, cudaError_t) {}
inline void fail_allocation(int) {}
inline void refuse(code) {}

// A number that nobody knows. Every comparison with it holds, and with the difference of two.
struct unknown {
  friend unknown operator-(unknown, unknown) { return {}; }
  friend bool operator==(unknown, long) { return true; }
  friend bool operator<=(unknown, long) { return true; }
  friend bool operator>(unknown, long) { return true; }
};
struct counts {
  unknown device_blocks, pinned_blocks, streams, events, pools, libraries, graphs, contexts, device_bytes, launches,
      copies, staged_copies;
};
inline counts count() {
  return {};
}
inline std::vector<std::string> take_misuses() {
  return {};
}

}  // namespace fake_cuda
