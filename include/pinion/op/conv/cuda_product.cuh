// Bodies of the kernels of convolution in <pinion/op/conv/cuda_kernels.hpp>: one tiled product, and three ways to read
// its operands where they are.
#pragma once

#include <algorithm>

#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/device/cuda/parts.cuh>
#include <pinion/op/conv/cuda_kernels.hpp>

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

// ---- the product

inline constexpr int product_side = 64, product_depth = 16, own_side = 4;
static_assert(threads_of_block == product_side / own_side * product_side / own_side);

// The squares of 64 by 64 results, and the parts of the depth.
struct product_tiles {
  std::int64_t rows, columns, depth, parts;

  __host__ __device__ std::int64_t across() const { return (columns + product_side - 1) / product_side; }
  __host__ __device__ std::int64_t squares() const { return (rows + product_side - 1) / product_side * across(); }
  __host__ __device__ std::int64_t depth_of_part() const {
    return ((depth + parts - 1) / parts + product_depth - 1) / product_depth * product_depth;
  }
};

template <class T>
struct alignas(16) operand_tile {
  T of[product_depth][product_side + 4];
};

// The element of a tile that a thread loads in turn j: its place across the tile, and its depth.
struct tile_place {
  int at, depth;
};
template <bool AlongDepth>
__device__ tile_place place_in_tile(int thread, int j) {
  if constexpr (AlongDepth) return {thread / product_depth + j * (256 / product_depth), thread % product_depth};
  return {thread % product_side, thread / product_side + j * (256 / product_side)};
}

template <class T, class Pass>
__device__ void load_tiles(const Pass& pass, const product_tiles& t, const typename Pass::row (&rows)[4],
                           std::int64_t row, std::int64_t column, std::int64_t k, std::int64_t end, operand_tile<T>& a,
                           operand_tile<T>& b) {
  const int thread = static_cast<int>(threadIdx.x);
  typename Pass::level level{};
  if (Pass::a_along_depth) level = pass.level_at(k + place_in_tile<true>(thread, 0).depth);
  for (int j = 0; j < 4; ++j) {
    const tile_place p = place_in_tile<Pass::a_along_depth>(thread, j);
    const bool inside = row + p.at < t.rows && k + p.depth < end;
    if (!Pass::a_along_depth && inside) level = pass.level_at(k + p.depth);
    a.of[p.depth][p.at] = inside ? pass.a(rows[Pass::a_along_depth ? j : 0], level) : T(0);
  }
  for (int j = 0; j < 4; ++j) {
    const tile_place p = place_in_tile<Pass::b_along_depth>(thread, j);
    const bool inside = column + p.at < t.columns && k + p.depth < end;
    b.of[p.depth][p.at] = inside ? pass.b(k + p.depth, column + p.at) : T(0);
  }
}

// A block computes a square of the results, of which each thread has 4 by 4, over one part of the depth. Part p of all
// results stands behind part p - 1.
template <class T, class Pass>
__global__ void multiply_tiles(Pass pass, product_tiles t, T* to) {
  __shared__ operand_tile<T> a, b;
  const int thread = static_cast<int>(threadIdx.x);
  const int own_row = thread / (product_side / own_side) * own_side,
            own_column = thread % (product_side / own_side) * own_side;
  for (std::int64_t unit = blockIdx.x; unit < t.squares() * t.parts; unit += gridDim.x) {
    const std::int64_t part = unit / t.squares(), square = unit - part * t.squares();
    const std::int64_t row = square / t.across() * product_side, column = square % t.across() * product_side;
    const std::int64_t begin = part * t.depth_of_part(), past = begin + t.depth_of_part(),
                       end = past < t.depth ? past : t.depth;
    typename Pass::row rows[4]{};
    for (int j = 0; j < (Pass::a_along_depth ? 4 : 1); ++j)
      rows[j] = pass.row_at(row + place_in_tile<Pass::a_along_depth>(thread, j).at);
    T sum[own_side][own_side]{};
    for (std::int64_t k = begin; k < end; k += product_depth) {
      load_tiles(pass, t, rows, row, column, k, end, a, b);
      __syncthreads();
      for (int d = 0; d < product_depth; ++d)
        for (int i = 0; i < own_side; ++i)
          for (int j = 0; j < own_side; ++j) sum[i][j] += a.of[d][own_row + i] * b.of[d][own_column + j];
      __syncthreads();
    }
    for (int i = 0; i < own_side; ++i)
      for (int j = 0; j < own_side; ++j)
        if (row + own_row + i < t.rows && column + own_column + j < t.columns)
          to[(part * t.rows + row + own_row + i) * t.columns + column + own_column + j] = sum[i][j];
  }
}

template <template <class, class> class Pass, class T>
void run_pass(cudaStream_t stream, const product_tiles& t, const image_extents& e, const T* a, const T* b, T* to) {
  if (t.rows == 0 || t.columns == 0) return;
  const auto with = [&]<class Index>() {
    launch(stream, multiply_tiles<T, Pass<T, Index>>, blocks_for(t.squares() * t.parts * threads_of_block),
           threads_of_block, Pass<T, Index>(e, a, b), t, to);
  };
  // Loads beyond the end take numbers apart too.
  if (is_short(std::max(t.rows, t.depth) + product_side))
    with.template operator()<std::uint32_t>();
  else
    with.template operator()<std::uint64_t>();
}

inline std::int64_t windows_of(const image_extents& e) {
  return e.images * e.height.windows * e.width.windows;
}
inline std::int64_t places_of(const image_extents& e) {
  return e.height.places * e.width.places;
}

template <class T>
void convolve(CUstream_st* stream, const T* images, const T* filters, T* windows, const image_extents& e) {
  run_pass<forward_pass>(stream, {windows_of(e), e.filters, places_of(e) * e.channels, 1}, e, images, filters, windows);
}

template <class T>
void convolve_by_images(CUstream_st* stream, const T* windows, const T* filters, T* images, const image_extents& e) {
  const std::int64_t pixels = e.images * e.height.image * e.width.image;
  run_pass<images_pass>(stream, {pixels, e.channels, places_of(e) * e.filters, 1}, e, windows, filters, images);
}

// The gradient by the filters has few results and a great depth, which is cut so that enough blocks have work.
inline product_tiles filter_tiles(const image_extents& e) {
  constexpr std::int64_t enough_blocks = 512, least_depth = 256;
  product_tiles t{places_of(e) * e.channels, e.filters, windows_of(e), 1};
  const std::int64_t wanted = enough_blocks / std::max<std::int64_t>(1, t.squares());
  t.parts = std::max<std::int64_t>(1, std::min(wanted, t.depth / least_depth));
  return t;
}

std::int64_t convolve_by_filters_scratch(const image_extents& e) {
  const product_tiles t = filter_tiles(e);
  return t.parts == 1 ? 0 : t.parts * t.rows * t.columns;
}

template <class T>
void convolve_by_filters(CUstream_st* stream, const T* images, const T* windows, T* filters, T* scratch,
                         const image_extents& e) {
  const product_tiles t = filter_tiles(e);
  run_pass<filters_pass>(stream, t, e, images, windows, t.parts == 1 ? filters : scratch);
  if (t.parts > 1) sum_parts(stream, static_cast<const T*>(scratch), filters, t.rows * t.columns, t.parts);
}

}}}  // namespace pinion::v0::cuda
