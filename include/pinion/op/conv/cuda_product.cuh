// Bodies of the kernels of convolution in <pinion/op/conv/cuda_kernels.hpp>: three ways in which a tiled product reads
// its operands.
#pragma once

#include <algorithm>

#include <pinion/device/cuda/divide.cuh>
#include <pinion/op/conv/cuda_kernels.hpp>
#include <pinion/op/matmul/cuda_tiles.cuh>

namespace pinion { inline namespace v0 { namespace cuda {

// ---- places of windows, of filters and of images

// The number of a place on two axes and of something at each place, row by row.
template <class Index>
struct grid_numbers {
  divisor<Index> width, inner;

  struct numbers {
    std::int64_t i, j, inner;
  };
  __device__ numbers of(std::int64_t at) const {
    const auto n = static_cast<Index>(at);
    const Index place = inner.quotient(n), row = width.quotient(place);
    return {static_cast<std::int64_t>(row), static_cast<std::int64_t>(place - row * width.by),
            static_cast<std::int64_t>(n - place * inner.by)};
  }
};

// The part that all passes share: the extents, and the way from numbers of windows, pixels and filter places to
// coordinates.
template <class T, class Index>
struct convolution {
  image_extents e;
  divisor<Index> windows_of_image, pixels_of_image;
  grid_numbers<Index> windows, pixels, channel_places, filter_places;

  explicit convolution(const image_extents& x)
      : e(x),
        windows_of_image(x.height.windows * x.width.windows),
        pixels_of_image(x.height.image * x.width.image),
        windows{divisor<Index>(x.width.windows), divisor<Index>(1)},
        pixels{divisor<Index>(x.width.image), divisor<Index>(1)},
        channel_places{divisor<Index>(x.width.places), divisor<Index>(x.channels)},
        filter_places{divisor<Index>(x.width.places), divisor<Index>(x.filters)} {}

  // The first place of a window: its image, and its row and column, which may lie outside.
  struct corner {
    std::int64_t image, top, left;
  };
  __device__ corner corner_of(std::int64_t window) const {
    const Index image = windows_of_image.quotient(static_cast<Index>(window));
    const auto at = windows.of(window - static_cast<std::int64_t>(image * windows_of_image.by));
    return {static_cast<std::int64_t>(image), at.i * e.height.stride - e.height.before,
            at.j * e.width.stride - e.width.before};
  }
  // A place of a window: its distance from the first one, and a channel.
  struct step {
    std::int64_t down, right, channel;
  };
  __device__ step step_of(std::int64_t place) const {
    const auto at = channel_places.of(place);
    return {at.i * e.height.dilation, at.j * e.width.dilation, at.inner};
  }
  __device__ T pixel(const T* images, const corner& from, const step& by) const {
    const std::int64_t y = from.top + by.down, x = from.left + by.right;
    if (y < 0 || y >= e.height.image || x < 0 || x >= e.width.image) return T(0);
    return images[((from.image * e.height.image + y) * e.width.image + x) * e.channels + by.channel];
  }
};

// ---- the passes, each a product of [rows, depth] by [depth, columns]

// windows = (places of images) x filters
template <class T, class Index>
struct forward_pass : convolution<T, Index> {
  using base = convolution<T, Index>;
  using row = typename base::corner;
  using level = typename base::step;
  static constexpr bool a_along_depth = true, b_along_depth = false;
  const T *images, *filters;

  forward_pass(const image_extents& extents, const T* x, const T* f) : base(extents), images(x), filters(f) {}
  __device__ row row_at(std::int64_t r) const { return this->corner_of(r); }
  __device__ level level_at(std::int64_t k) const { return this->step_of(k); }
  __device__ T a(const row& r, const level& k) const { return this->pixel(images, r, k); }
  __device__ T b(std::int64_t k, std::int64_t column) const { return filters[k * this->e.filters + column]; }
};

// filters = (places of images), transposed, x windows
template <class T, class Index>
struct filters_pass : convolution<T, Index> {
  using base = convolution<T, Index>;
  using row = typename base::step;
  using level = typename base::corner;
  static constexpr bool a_along_depth = false, b_along_depth = false;
  const T *images, *windows;

  filters_pass(const image_extents& extents, const T* x, const T* dy) : base(extents), images(x), windows(dy) {}
  __device__ row row_at(std::int64_t r) const { return this->step_of(r); }
  __device__ level level_at(std::int64_t k) const { return this->corner_of(k); }
  __device__ T a(const row& r, const level& k) const { return this->pixel(images, k, r); }
  __device__ T b(std::int64_t k, std::int64_t column) const { return windows[k * this->e.filters + column]; }
};

// images = (windows over each pixel) x filters, transposed
template <class T, class Index>
struct images_pass : convolution<T, Index> {
  using base = convolution<T, Index>;
  using row = typename base::corner;
  using level = typename base::step;
  static constexpr bool a_along_depth = true, b_along_depth = true;
  const T *windows, *filters;

  images_pass(const image_extents& extents, const T* dy, const T* f) : base(extents), windows(dy), filters(f) {}
  __device__ row row_at(std::int64_t r) const {
    const Index image = this->pixels_of_image.quotient(static_cast<Index>(r));
    const auto at = this->pixels.of(r - static_cast<std::int64_t>(image * this->pixels_of_image.by));
    return {static_cast<std::int64_t>(image), at.i + this->e.height.before, at.j + this->e.width.before};
  }
  __device__ level level_at(std::int64_t k) const {
    const auto at = this->filter_places.of(k);
    return {at.i * this->e.height.dilation, at.j * this->e.width.dilation, at.inner};
  }
  // The window that has the pixel at that place, if its first place is a multiple of the strides.
  __device__ T a(const row& r, const level& k) const {
    const image_axis &h = this->e.height, &w = this->e.width;
    const std::int64_t y = r.top - k.down, x = r.left - k.right;
    if (y < 0 || x < 0 || (h.stride > 1 && y % h.stride != 0) || (w.stride > 1 && x % w.stride != 0)) return T(0);
    const std::int64_t i = h.stride > 1 ? y / h.stride : y, j = w.stride > 1 ? x / w.stride : x;
    if (i >= h.windows || j >= w.windows) return T(0);
    return windows[((r.image * h.windows + i) * w.windows + j) * this->e.filters + k.channel];
  }
  __device__ T b(std::int64_t k, std::int64_t column) const {
    const std::int64_t place = static_cast<std::int64_t>(this->filter_places.inner.quotient(static_cast<Index>(k)));
    return filters[(place * this->e.channels + column) * this->e.filters + (k - place * this->e.filters)];
  }
};

// ---- the products

// Runs a pass that takes numbers apart in as few bits as they need.
template <template <class, class> class Pass, class T>
void convolve_by(cudaStream_t stream, const product_tiles& t, const image_extents& e, const T* a, const T* b, T* y,
                 T* scratch) {
  const auto with = [&]<class Index>() { run_pass(stream, Pass<T, Index>(e, a, b), t, y, scratch); };
  // Loads beyond the end take numbers apart too.
  if (is_short(std::max(t.rows, t.depth) + product_side))
    with.template operator()<std::uint32_t>();
  else
    with.template operator()<std::uint64_t>();
}

inline product_tiles tiles_of(conv_pass pass, const image_extents& e) {
  const std::int64_t windows = e.images * e.height.windows * e.width.windows,
                     pixels = e.images * e.height.image * e.width.image, places = e.height.places * e.width.places;
  switch (pass) {
    case conv_pass::forward: return cut_tiles(windows, e.filters, places * e.channels);
    case conv_pass::by_images: return cut_tiles(pixels, e.channels, places * e.filters);
    default: return cut_tiles(places * e.channels, e.filters, windows);
  }
}

std::int64_t convolve_scratch(conv_pass pass, const image_extents& e) {
  return tiles_of(pass, e).scratch();
}

template <class T>
void convolve(CUstream_st* stream, conv_pass pass, const T* a, const T* b, T* y, T* scratch, const image_extents& e) {
  const product_tiles t = tiles_of(pass, e);
  switch (pass) {
    case conv_pass::forward: return convolve_by<forward_pass>(stream, t, e, a, b, y, scratch);
    case conv_pass::by_images: return convolve_by<images_pass>(stream, t, e, a, b, y, scratch);
    default: return convolve_by<filters_pass>(stream, t, e, a, b, y, scratch);
  }
}

}}}  // namespace pinion::v0::cuda
