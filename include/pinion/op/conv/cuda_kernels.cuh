// Bodies of <pinion/op/conv/cuda_kernels.hpp>.
#pragma once

#include <pinion/op/conv/cuda_pool.cuh>
#include <pinion/op/conv/cuda_product.cuh>

namespace pinion { inline namespace v0 { namespace cuda {

template void convolve(CUstream_st*, conv_pass, const float*, const float*, float*, float*, const image_extents&);
template void convolve(CUstream_st*, conv_pass, const double*, const double*, double*, double*, const image_extents&);

template void greatest_places(CUstream_st*, const float*, std::int32_t*, const image_extents&);
template void greatest_places(CUstream_st*, const double*, std::int32_t*, const image_extents&);
template void take_at_places(CUstream_st*, const float*, const std::int32_t*, float*, const image_extents&);
template void take_at_places(CUstream_st*, const double*, const std::int32_t*, double*, const image_extents&);
template void add_at_places(CUstream_st*, const float*, const std::int32_t*, float*, const image_extents&);
template void add_at_places(CUstream_st*, const double*, const std::int32_t*, double*, const image_extents&);
template void pool_greatest(CUstream_st*, const float*, float*, const image_extents&);
template void pool_greatest(CUstream_st*, const double*, double*, const image_extents&);
template void pool_means(CUstream_st*, const float*, float*, const image_extents&);
template void pool_means(CUstream_st*, const double*, double*, const image_extents&);
template void share_means(CUstream_st*, const float*, float*, const image_extents&);
template void share_means(CUstream_st*, const double*, double*, const image_extents&);

}}}  // namespace pinion::v0::cuda
