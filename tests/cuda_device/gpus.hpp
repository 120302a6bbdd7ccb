// A machine with GPUs: the stand-in for CUDA, begun anew for each test.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <pinion/device/cuda/device.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/fake_cuda/control.hpp"

namespace cuda_tests {

namespace pn = pinion;

struct machine {
  explicit machine(const fake_cuda::settings& like = {}) {
    setenv("PINION_CUDA_LIBS", PINION_TEST_FAKE_CUDA_LIBS, 1);
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
