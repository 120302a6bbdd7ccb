// Launches of kernels by the units that nvcc compiles. Nothing here knows the rest of pinion.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace pinion { inline namespace v0 { namespace cuda {

inline constexpr unsigned threads_of_block = 256;

// The blocks that give each of n elements a thread, and no more than fill a large GPU several times over: a thread
// takes further elements, in a loop of stride gridDim.x * blockDim.x.
inline unsigned blocks_for(std::int64_t n) {
  constexpr std::int64_t most = 1 << 16;
  const std::int64_t blocks = (n + threads_of_block - 1) / threads_of_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

// Launches a kernel whose parameters are values. Throws std::runtime_error where CUDA refuses the launch; a kernel that
// fails later fails its stream.
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
            Arguments... arguments) {
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(blocks);
  how.blockDim = dim3(threads);
  how.stream = stream;
  if (const cudaError_t failed = cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...))
    throw std::runtime_error(std::string("a kernel was not launched: ") + cudaGetErrorString(failed));
}

}}}  // namespace pinion::v0::cuda
