// Work on two streams, and threads of a block, with the order that they need or without it: the thread sanitizer names
// what is missing as a data race. Run with: ordered, without_wait, without_barrier or without_copy.
#include <cstdio>
#include <string_view>

#include "fake_cuda/fresh_cuda.hpp"
#include "support/fake_cuda/words.hpp"

using namespace fake_cuda_tests;

namespace {

__global__ void turn(int* to, bool has_barrier) {
  __shared__ int values[64];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (has_barrier)
    __syncthreads();
  else
    __syncwarp();
  to[threadIdx.x] = values[63 - threadIdx.x];
}

// Turns 64 numbers on one stream, and copies them to pinned memory on another.
int first_of_turned(std::string_view missing) {
  const cudaStream_t computes = new_stream(), copies = new_stream();
  const cudaEvent_t turned = new_event();
  int *const numbers = new_elements<int>(64), *pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), 256);
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(1), how.blockDim = dim3(64), how.stream = computes;
  cudaLaunchKernelEx(&how, turn, numbers, missing != "without_barrier");
  cudaEventRecord(turned, computes);
  if (missing != "without_wait") cudaStreamWaitEvent(copies, turned, 0);
  cudaMemcpyAsync(pinned, numbers, 256, cudaMemcpyDeviceToHost, copies);
  if (missing != "without_copy") cudaStreamSynchronize(copies);
  return pinned[0];
}

}  // namespace

int main(int, char** arguments) {
  const fresh_cuda machine;
  std::printf("first: %d\n", first_of_turned(arguments[1]));
}
