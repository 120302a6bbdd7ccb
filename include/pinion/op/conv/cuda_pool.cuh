// Bodies of the kernels of pooling in <pinion/op/conv/cuda_kernels.hpp>.
#pragma once

#include <cstdint>
#include <type_traits>

#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/conv/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// One axis of images and of the windows over them, whose places are next to each other. Index: std::int32_t where the
// numbers of all elements fit, else std::int64_t; divisors are known where a kernel is launched.
template <class Index>
struct pool_axis {
  using natural = std::make_unsigned_t<Index>;
  Index image, windows, places, stride, before;
  divisor<natural> by_stride, by_places;

  explicit pool_axis(const image_axis& a)
      : image(static_cast<Index>(a.image)),
        windows(static_cast<Index>(a.windows)),
        places(static_cast<Index>(a.places)),
        stride(static_cast<Index>(a.stride)),
        before(static_cast<Index>(a.before)),
        by_stride(a.stride),
        by_places(a.places) {}

  __device__ Index begin_of(Index window) const { return window * stride - before; }
};

// A range of places of a window, or of windows.
template <class Index>
struct run_of {
  Index first, last;
};

// The places of window i that lie inside the image.
template <class Index>
__device__ run_of<Index> places_inside(const pool_axis<Index>& a, Index i) {
  const Index begin = a.begin_of(i), room = a.image - begin;
  return {begin >= 0 ? Index(0) : -begin, room < 0 ? Index(0) : room < a.places ? room : a.places};
}

// The windows that have element y of the image among their places.
template <class Index>
__device__ run_of<Index> windows_over(const pool_axis<Index>& a, Index y) {
  using natural = typename pool_axis<Index>::natural;
  const Index end = y + a.before;  // the window that begins here is the last one
  const auto strides = [&](Index n) { return static_cast<Index>(a.by_stride.quotient(static_cast<natural>(n))); };
  const Index first = end < a.places ? Index(0) : strides(end - a.places) + 1, last = strides(end) + 1;
  return {first, last < a.windows ? last : a.windows};
}

template <class Index>
struct image_place {
  Index n, i, j, channel;
};

// Images [n, height, width, channels], the windows over them, and how an element of either is found.
template <class Index>
struct pool_extents {
  using natural = std::make_unsigned_t<Index>;
  pool_axis<Index> height, width;
  Index channels;
  divisor<natural> by_channels, by_width, by_height;  // of what has a thread for each element

  pool_extents(const image_extents& e, bool over_windows)
      : height(e.height),
        width(e.width),
        channels(static_cast<Index>(e.channels)),
        by_channels(e.channels),
        by_width(over_windows ? e.width.windows : e.width.image),
        by_height(over_windows ? e.height.windows : e.height.image) {}

  // Element e of what has a thread for each.
  __device__ image_place<Index> place_of(Index e) const {
    const auto split = [](natural& rest, const divisor<natural>& by) {
      const natural whole = by.quotient(rest), left = rest - whole * by.by;
      rest = whole;
      return static_cast<Index>(left);
    };
    auto rest = static_cast<natural>(e);
    const Index channel = split(rest, by_channels), j = split(rest, by_width), i = split(rest, by_height);
    return {static_cast<Index>(rest), i, j, channel};
  }
  __device__ Index of_image(const image_place<Index>& w, Index i, Index j) const {
    return ((w.n * height.image + i) * width.image + j) * channels + w.channel;
  }
  __device__ Index of_window(const image_place<Index>& at, Index i, Index j) const {
    return ((at.n * height.windows + i) * width.windows + j) * channels + at.channel;
  }
};

template <class Index>
struct greatest_place {
  Index place, offset;
};

// The first greatest place of a window, and its offset in the images.
template <class T, class Index>
__device__ greatest_place<Index> greatest_of(const T* x, const image_place<Index>& w, const pool_extents<Index>& e) {
  const run_of<Index> rows = places_inside(e.height, w.i), columns = places_inside(e.width, w.j);
  greatest_place<Index> best{-1, 0};
  T most = 0;
  for (Index p = rows.first; p < rows.last; ++p)
    for (Index q = columns.first; q < columns.last; ++q) {
      const Index at = e.of_image(w, e.height.begin_of(w.i) + p, e.width.begin_of(w.j) + q);
      const T value = x[at];
      if (best.place >= 0 && !(value > most) && !(most != most && value == value)) continue;
      best = {p * e.width.places + q, at};
      most = value;
    }
  return best;
}

inline std::int64_t windows_count(const image_extents& e) {
  return e.images * e.height.windows * e.width.windows * e.filters;
}
inline std::int64_t images_count(const image_extents& e) {
  return e.images * e.height.image * e.width.image * e.channels;
}

// Calls f(element, its place) for each of the elements that fall to this thread.
template <class Index, class F>
__device__ void for_own_elements(Index count, const pool_extents<Index>& e, F&& f) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    f(static_cast<Index>(i), e.place_of(static_cast<Index>(i)));
}

template <class T, class Index>
__global__ void find_greatest(const T* x, std::int32_t* places, Index count, pool_extents<Index> e) {
  for_own_elements(count, e, [&](Index i, const image_place<Index>& w) {
    places[i] = static_cast<std::int32_t>(greatest_of(x, w, e).place);
  });
}

template <class T, class Index>
__global__ void copy_greatest(const T* x, T* y, Index count, pool_extents<Index> e) {
  for_own_elements(count, e, [&](Index i, const image_place<Index>& w) { y[i] = x[greatest_of(x, w, e).offset]; });
}

template <class T, class Index>
__global__ void take_places(const T* x, const std::int32_t* places, T* y, Index count, pool_extents<Index> e) {
  using natural = std::make_unsigned_t<Index>;
  for_own_elements(count, e, [&](Index i, const image_place<Index>& w) {
    const auto p = static_cast<Index>(e.width.by_places.quotient(static_cast<natural>(places[i])));
    const Index q = places[i] - p * e.width.places;
    y[i] = x[e.of_image(w, e.height.begin_of(w.i) + p, e.width.begin_of(w.j) + q)];
  });
}

// Each element of an image looks for itself in the windows over it, in their order.
template <class T, class Index>
__global__ void add_places(const T* dy, const std::int32_t* places, T* dx, Index count, pool_extents<Index> e) {
  for_own_elements(count, e, [&](Index i, const image_place<Index>& at) {
    const run_of<Index> rows = windows_over(e.height, at.i), columns = windows_over(e.width, at.j);
    T sum = 0;
    for (Index r = rows.first; r < rows.last; ++r)
      for (Index c = columns.first; c < columns.last; ++c) {
        const Index p = at.i - e.height.begin_of(r), q = at.j - e.width.begin_of(c), w = e.of_window(at, r, c);
        if (places[w] == p * e.width.places + q) sum += dy[w];
      }
    dx[i] = sum;
  });
}

// The share of each place of window (i, j) in its mean.
template <class T, class Index>
__device__ T share_of(const pool_extents<Index>& e, Index i, Index j) {
  const run_of<Index> rows = places_inside(e.height, i), columns = places_inside(e.width, j);
  return static_cast<T>(1.0 / static_cast<double>((rows.last - rows.first) * (columns.last - columns.first)));
}

template <class T, class Index>
__global__ void add_shares(const T* x, T* y, Index count, pool_extents<Index> e) {
  for_own_elements(count, e, [&](Index i, const image_place<Index>& w) {
    const run_of<Index> rows = places_inside(e.height, w.i), columns = places_inside(e.width, w.j);
    const T share = share_of<T>(e, w.i, w.j);
    T sum = 0;
    for (Index p = rows.first; p < rows.last; ++p)
      for (Index q = columns.first; q < columns.last; ++q)
        sum += x[e.of_image(w, e.height.begin_of(w.i) + p, e.width.begin_of(w.j) + q)] * share;
    y[i] = sum;
  });
}

template <class T, class Index>
__global__ void give_shares(const T* dy, T* dx, Index count, pool_extents<Index> e) {
  for_own_elements(count, e, [&](Index i, const image_place<Index>& at) {
    const run_of<Index> rows = windows_over(e.height, at.i), columns = windows_over(e.width, at.j);
    T sum = 0;
    for (Index r = rows.first; r < rows.last; ++r)
      for (Index c = columns.first; c < columns.last; ++c) sum += dy[e.of_window(at, r, c)] * share_of<T>(e, r, c);
    dx[i] = sum;
  });
}

// Launches a kernel that has a thread for each element of the windows, or of the images: the one whose indices have 32
// bits, where those of windows and images fit.
template <class... Short, class... Long, class... Arguments>
void launch_over(cudaStream_t stream, bool over_windows, const image_extents& e, void (*in_32_bits)(Short...),
                 void (*in_64_bits)(Long...), Arguments... arguments) {
  const std::int64_t windows = windows_count(e), images = images_count(e), count = over_windows ? windows : images;
  if (count == 0) return;
  const unsigned blocks = blocks_for(count);
  if (is_short(windows) && is_short(images))
    launch(stream, in_32_bits, blocks, threads_of_block, arguments..., static_cast<std::int32_t>(count),
           pool_extents<std::int32_t>(e, over_windows));
  else
    launch(stream, in_64_bits, blocks, threads_of_block, arguments..., count,
           pool_extents<std::int64_t>(e, over_windows));
}

template <class T>
void greatest_places(CUstream_st* stream, const T* images, std::int32_t* places, const image_extents& e) {
  launch_over(stream, true, e, find_greatest<T, std::int32_t>, find_greatest<T, std::int64_t>, images, places);
}
template <class T>
void take_at_places(CUstream_st* stream, const T* images, const std::int32_t* places, T* windows,
                    const image_extents& e) {
  launch_over(stream, true, e, take_places<T, std::int32_t>, take_places<T, std::int64_t>, images, places, windows);
}
template <class T>
void add_at_places(CUstream_st* stream, const T* windows, const std::int32_t* places, T* images,
                   const image_extents& e) {
  launch_over(stream, false, e, add_places<T, std::int32_t>, add_places<T, std::int64_t>, windows, places, images);
}
template <class T>
void pool_greatest(CUstream_st* stream, const T* images, T* windows, const image_extents& e) {
  launch_over(stream, true, e, copy_greatest<T, std::int32_t>, copy_greatest<T, std::int64_t>, images, windows);
}
template <class T>
void pool_means(CUstream_st* stream, const T* images, T* windows, const image_extents& e) {
  launch_over(stream, true, e, add_shares<T, std::int32_t>, add_shares<T, std::int64_t>, images, windows);
}
template <class T>
void share_means(CUstream_st* stream, const T* windows, T* images, const image_extents& e) {
  launch_over(stream, false, e, give_shares<T, std::int32_t>, give_shares<T, std::int64_t>, windows, images);
}

}}}  // namespace pinion::v0::cuda
