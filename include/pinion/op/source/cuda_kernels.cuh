// Bodies of <pinion/op/source/cuda_kernels.hpp>.
#pragma once

#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/source/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

template <class T>
__global__ void fill_elements(T* to, std::int64_t n, T value) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) to[i] = value;
}

template <class T>
void fill(CUstream_st* stream, T* to, std::int64_t n, T value) {
  if (n > 0) launch(stream, fill_elements<T>, blocks_for(n), threads_of_block, to, n, value);
}

template void fill(CUstream_st*, float*, std::int64_t, float);
template void fill(CUstream_st*, double*, std::int64_t, double);
template void fill(CUstream_st*, std::int32_t*, std::int64_t, std::int32_t);
template void fill(CUstream_st*, std::int64_t*, std::int64_t, std::int64_t);
template void fill(CUstream_st*, std::uint8_t*, std::int64_t, std::uint8_t);
template void fill(CUstream_st*, bool*, std::int64_t, bool);

}}}  // namespace pinion::v0::cuda
