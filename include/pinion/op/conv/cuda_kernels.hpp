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

// Convolution and its gradients, as tiled products whose operands are read where they are. T is float or double. The
// gradient by the filters [height, width, channels, filters] is summed in parts, which depend on the extents alone; it
// wants scratch memory of convolve_by_filters_scratch(extents) elements.
template <class T>
void convolve(CUstream_st* stream, const T* images, const T* filters, T* windows, const image_extents& extents);
template <class T>
void convolve_by_images(CUstream_st* stream, const T* windows, const T* filters, T* images,
                        const image_extents& extents);
template <class T>
void convolve_by_filters(CUstream_st* stream, const T* images, const T* windows, T* filters, T* scratch,
                         const image_extents& extents);
std::int64_t convolve_by_filters_scratch(const image_extents& extents);

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
