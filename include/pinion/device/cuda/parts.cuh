// Sums that several blocks share: each writes a part, and a second kernel adds the parts up in their order, so every
// run gives the same bits. Nothing here knows the rest of pinion.
#pragma once

#include <pinion/device/cuda/launch.cuh>

namespace pinion { inline namespace v0 { namespace cuda {

template <class T>
__global__ void sum_parts_of(const T* parts, T* to, std::int64_t n, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    T sum = 0;
    for (std::int64_t p = 0; p < count; ++p) sum += parts[p * n + i];
    to[i] = sum;
  }
}

// Adds up `count` parts of n elements each.
template <class T>
void sum_parts(cudaStream_t stream, const T* parts, T* to, std::int64_t n, std::int64_t count) {
  launch(stream, sum_parts_of<T>, blocks_for(n), threads_of_block, parts, to, n, count);
}

}}}  // namespace pinion::v0::cuda
