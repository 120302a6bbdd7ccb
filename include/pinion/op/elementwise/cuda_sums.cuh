// Bodies of <pinion/op/elementwise/cuda_sums.hpp>.
#pragma once

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/elementwise/cuda_sums.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// Some dimensions of a space, the innermost first, with the elements between neighbours.
struct space_part {
  int rank = 0;
  std::int64_t count = 1;
  std::int64_t extent[summed_space::most_rank] = {}, stride[summed_space::most_rank] = {};

  void add(std::int64_t extents, std::int64_t strides) {
    extent[rank] = extents;
    stride[rank++] = strides;
    count *= extents;
  }
  __device__ std::int64_t offset(std::int64_t at) const {
    std::int64_t sum = 0;
    for (int d = 0; d < rank; ++d) {
      sum += at % extent[d] * stride[d];
      at /= extent[d];
    }
    return sum;
  }
};

struct addition {
  template <class T>
  static __device__ T combine(T a, T b) {
    return a + b;
  }
};

// Each warp adds the terms of a result up, in strides of 32.
template <class T>
__global__ void sum_parts(const T* from, T* to, space_part kept, space_part summed) {
  const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / 32, lane = threadIdx.x % 32;
  const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  for (std::int64_t result = first; result < kept.count; result += warps) {
    const T* const begin = from + kept.offset(result);
    T sum = 0;
    for (std::int64_t term = lane; term < summed.count; term += 32) sum += begin[summed.offset(term)];
    sum = fold_lanes<addition>(sum, 32);
    if (lane == 0) to[result] = sum;
  }
}

template <class T>
void sum_over(CUstream_st* stream, const T* from, T* to, const summed_space& space) {
  space_part kept, summed;
  std::int64_t stride = 1;
  for (int d = space.rank; d-- > 0; stride *= space.extent[d])
    (space.is_kept[d] ? kept : summed).add(space.extent[d], stride);
  if (kept.count == 0) return;
  launch(stream, sum_parts<T>, blocks_for(32 * kept.count), threads_of_block, from, to, kept, summed);
}

template void sum_over(CUstream_st*, const float*, float*, const summed_space&);
template void sum_over(CUstream_st*, const double*, double*, const summed_space&);

}}}  // namespace pinion::v0::cuda
