// A machine with GPUs: the stand-in for CUDA, begun anew for each test, or this machine and NVIDIA's runtime where
// PINION_TEST_REAL_CUDA is 1 (tests/gpu.sh). Tests that need a machine of a certain kind are tagged [stand-in].
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <pinion/device/cuda/device.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#if PINION_TEST_REAL_CUDA
#include "support/real_cuda/control.hpp"
#else
#include "support/fake_cuda/control.hpp"
#endif

namespace cuda_tests {

namespace pn = pinion;

// The folder of the libraries that stand in for NVIDIA's; null on a real GPU.
#if PINION_TEST_REAL_CUDA
inline const char* const stand_in_libraries = nullptr;
#else
inline const char* const stand_in_libraries = PINION_TEST_FAKE_CUDA_LIBS;
#endif

struct machine {
  explicit machine(const fake_cuda::settings& like = {}) {
    if (stand_in_libraries) setenv("PINION_CUDA_LIBS", stand_in_libraries, 1);
    setenv("PINION_CUDA_CACHE", "", 0);
    pn::cuda::pinned_memory::of_gpus().trim();
    fake_cuda::reset(like);
  }
  static fake_cuda::settings with(int devices) {
    fake_cuda::settings s;
    s.devices = devices;
    return s;
  }
  static fake_cuda::settings with_memory(std::size_t bytes) {
    fake_cuda::settings s;
    s.memory = bytes;
    return s;
  }
  static fake_cuda::settings with_driver(fake_cuda::driver d) {
    fake_cuda::settings s;
    s.is = d;
    return s;
  }
};

// A graph of its own on such a machine, under a guard of the first GPU.
struct world : machine {
  using machine::machine;
  pn::graph g;
  decltype(g.as_default()) use = g.as_default();
};

inline const std::string gpu_0 = "/job:localhost/replica:0/task:0/device:GPU:0";

}  // namespace cuda_tests
