// Bodies of <pinion/op/variable/cuda_kernels.hpp>.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include <pinion/op/variable/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

void copy_bytes(CUstream_st* stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (const cudaError_t failed = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream))
    throw std::runtime_error(std::string("a copy was not enqueued: ") + cudaGetErrorString(failed));
}

}}}  // namespace pinion::v0::cuda
