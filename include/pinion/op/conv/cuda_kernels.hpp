// CUDA kernels of convolution and pooling, as plain functions that take a stream. Nothing here knows the rest of
// pinion.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// One axis of images and of the windows over them. Window i begins at element i * stride - before, and its places are
// `dilation` elements apart.
struct image_axis {
  std::int64_t image, windows, places, stride, dilation, before;
};

// Images [n, height, width, channels] and windows over them, [n, height, width, filters]; a pooling has as many filters
// as channels.
struct image_extents {
  std::int64_t images, channels, filters;
  image_axis height, width;
};

// Convolution of images [n, height, width, channels] by filters [height, width, channels, filters], and its gradients:
//   forward      images, filters -> windows
//   by_images    windows, filters -> images
//   by_filters   images, windows -> filters
enum class conv_pass { forward, by_images, by_filters };

// Computes a pass as a tiled product whose operands are read where they are. A product of few results is summed in
// parts, which depend on the extents alone; it wants scratch memory of convolve_scratch(pass, extents) elements. T is
// float or double.
template <class T>
void convolve(CUstream_st* stream, conv_pass pass, const T* a, const T* b, T* y, T* scratch,
              const image_extents& extents);
std::int64_t convolve_scratch(conv_pass pass, const image_extents& extents);

// The first greatest place of each window, counted row by row. NaN counts as less than any number.
template <class T>
void greatest_places(CUstream_st* stream, const T* images, std::int32_t* places, const image_extents& extents);
// Copies the values at those places of the images to the windows, or adds those of the windows up at the places.
template <class T>
void take_at_places(CUstream_st* stream, const T* images, const std::int32_t* places, T* windows,
                    const image_extents& extents);
template <class T>
void add_at_places(CUstream_st* stream, const T* windows, const std::int32_t* places, T* images,
                   const image_extents& extents);

// The greatest element of each window, as above; the mean of each, for which padding does not count; and its gradient.
template <class T>
void pool_greatest(CUstream_st* stream, const T* images, T* windows, const image_extents& extents);
template <class T>
void pool_means(CUstream_st* stream, const T* images, T* windows, const image_extents& extents);
template <class T>
void share_means(CUstream_st* stream, const T* windows, T* images, const image_extents& extents);

}}}  // namespace pinion::v0::cuda
