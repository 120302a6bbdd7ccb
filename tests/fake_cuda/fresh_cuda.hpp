// Words of the tests of the stand-in for CUDA. Those that are not tagged [stand-in] hold on NVIDIA's runtime too, where
// PINION_TEST_REAL_CUDA is 1 (tests/gpu.sh): there they show that the stand-in stands for it.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <string>
#include <vector>

#if PINION_TEST_REAL_CUDA
#include "support/real_cuda/control.hpp"
#else
#include "support/fake_cuda/control.hpp"
#endif

namespace fake_cuda_tests {

using sentences = std::vector<std::string>;

// A test of its own machine. It begins with nothing, and leaves nothing; on a real GPU, nothing that others meet.
struct fresh_cuda {
  explicit fresh_cuda(const fake_cuda::settings& now = {}) { fake_cuda::reset(now); }
  ~fresh_cuda() { fake_cuda::reset(); }
  fresh_cuda(const fresh_cuda&) = delete;
};

inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

inline cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, flags);
  return event;
}

// Memory of the current device, for some elements; null if there is no room.
template <class T>
T* new_elements(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  return static_cast<T*>(memory);
}

template <class T>
std::vector<T> elements(const T* memory, std::size_t count) {
  std::vector<T> all(count);
  cudaMemcpy(all.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  return all;
}

// A door in a stream: the tasks behind it wait until it is opened. It lives as long as the stream needs it.
class door {
 public:
  explicit door(cudaStream_t stream) : stream_(stream) {
    cudaLaunchHostFunc(
        stream, [](void* open) { static_cast<std::atomic<bool>*>(open)->wait(false); }, &is_open_);
  }
  door(const door&) = delete;
  ~door() {
    open();
    cudaStreamSynchronize(stream_);
  }
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }

 private:
  cudaStream_t stream_;
  std::atomic<bool> is_open_ = false;
};

}  // namespace fake_cuda_tests
