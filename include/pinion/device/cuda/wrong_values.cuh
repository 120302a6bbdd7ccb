// Notes of wrong values, by the kernels that meet them. Nothing here knows the rest of pinion.
#pragma once

#include <pinion/device/cuda/first_wrong.hpp>
#include <pinion/device/cuda/launch.cuh>

namespace pinion { inline namespace v0 { namespace cuda {

// Notes that the value at a position is wrong; of several, the first position stays.
__device__ inline void note_wrong(first_wrong* wrong, std::int64_t position) {
  atomicMin(&wrong->position, static_cast<unsigned long long>(position));
}

template <class Index>
__global__ void keep_value_at(const Index* values, first_wrong* wrong) {
  if (wrong->position != ~0ull) wrong->value = static_cast<long long>(values[wrong->position]);
}

// Keeps the value at the position that kernels before this one in the stream have noted, if there is one.
template <class Index>
void keep_value(cudaStream_t stream, const Index* values, first_wrong* wrong) {
  launch(stream, keep_value_at<Index>, 1, 1, values, wrong);
}

}}}  // namespace pinion::v0::cuda
