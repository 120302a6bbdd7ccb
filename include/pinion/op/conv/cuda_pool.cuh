// Bodies of the kernels of pooling in <pinion/op/conv/cuda_kernels.hpp>.
#pragma once

#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/conv/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

struct image_place {
  std::int64_t n, i, j, channel;
};

// Element e of a tensor [n, height, width, channels].
__device__ inline image_place place_of(std::int64_t e, std::int64_t height, std::int64_t width, std::int64_t channels) {
  image_place p{};
  if (e < std::int64_t{1} << 31) {  // divisions of 32 bits take a fourth of the time
    auto rest = static_cast<std::uint32_t>(e);
    const auto c = static_cast<std::uint32_t>(channels), w = static_cast<std::uint32_t>(width),
               h = static_cast<std::uint32_t>(height);
    p.channel = rest % c, rest /= c;
    p.j = rest % w, rest /= w;
    p.i = rest % h, p.n = rest / h;
    return p;
  }
  p.channel = e % channels, e /= channels;
  p.j = e % width, e /= width;
  p.i = e % height, p.n = e / height;
  return p;
}

// A range of places of a window, or of windows.
struct run_of {
  std::int64_t first, last;
};

// The places of window i that lie inside the image.
__device__ inline run_of places_inside(const image_axis& a, std::int64_t i) {
  const std::int64_t begin = i * a.stride - a.before;
  const std::int64_t first = begin >= 0 ? 0 : (-begin + a.dilation - 1) / a.dilation;
  const std::int64_t room = a.image - begin;
  const std::int64_t last = room <= 0 ? 0 : (room - 1) / a.dilation + 1;
  return {first, last < a.places ? last : a.places};
}

// The windows that have element y of the image among their places, whose dilation is 1.
__device__ inline run_of windows_over(const image_axis& a, std::int64_t y) {
  const std::int64_t end = y + a.before;  // the window that begins here is the last one
  const std::int64_t first = end < a.places ? 0 : (end - a.places) / a.stride + 1;
  const std::int64_t last = end / a.stride + 1;
  return {first, last < a.windows ? last : a.windows};
}

struct greatest_place {
  std::int64_t place, offset;
};

// The first greatest place of a window, and its offset in the images.
template <class T>
__device__ greatest_place greatest_of(const T* x, const image_place& w, const image_extents& e) {
  const run_of rows = places_inside(e.height, w.i), columns = places_inside(e.width, w.j);
  greatest_place best{-1, 0};
  T most = 0;
  for (std::int64_t p = rows.first; p < rows.last; ++p)
    for (std::int64_t q = columns.first; q < columns.last; ++q) {
      const std::int64_t y = w.i * e.height.stride - e.height.before + p, z = w.j * e.width.stride - e.width.before + q;
      const std::int64_t at = ((w.n * e.height.image + y) * e.width.image + z) * e.channels + w.channel;
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

// Calls f(element, its place) for each element of a tensor [n, height, width, channels] that falls to this thread.
template <class F>
__device__ void for_own_elements(std::int64_t count, std::int64_t height, std::int64_t width, std::int64_t channels,
                                 F&& f) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    f(i, place_of(i, height, width, channels));
}

template <class T>
__global__ void find_greatest(const T* x, std::int32_t* places, std::int64_t count, image_extents e) {
  for_own_elements(count, e.height.windows, e.width.windows, e.channels, [&](std::int64_t i, const image_place& w) {
    places[i] = static_cast<std::int32_t>(greatest_of(x, w, e).place);
  });
}

template <class T>
__global__ void copy_greatest(const T* x, T* y, std::int64_t count, image_extents e) {
  for_own_elements(count, e.height.windows, e.width.windows, e.channels,
                   [&](std::int64_t i, const image_place& w) { y[i] = x[greatest_of(x, w, e).offset]; });
}

template <class T>
__global__ void take_places(const T* x, const std::int32_t* places, T* y, std::int64_t count, image_extents e) {
  for_own_elements(count, e.height.windows, e.width.windows, e.channels, [&](std::int64_t i, const image_place& w) {
    const std::int64_t p = places[i] / e.width.places, q = places[i] % e.width.places;
    const std::int64_t row = w.i * e.height.stride - e.height.before + p,
                       column = w.j * e.width.stride - e.width.before + q;
    y[i] = x[((w.n * e.height.image + row) * e.width.image + column) * e.channels + w.channel];
  });
}

// Each element of an image looks for itself in the windows over it, in their order.
template <class T>
__global__ void add_places(const T* dy, const std::int32_t* places, T* dx, std::int64_t count, image_extents e) {
  for_own_elements(count, e.height.image, e.width.image, e.channels, [&](std::int64_t i, const image_place& at) {
    const run_of rows = windows_over(e.height, at.i), columns = windows_over(e.width, at.j);
    T sum = 0;
    for (std::int64_t r = rows.first; r < rows.last; ++r)
      for (std::int64_t c = columns.first; c < columns.last; ++c) {
        const std::int64_t p = at.i - (r * e.height.stride - e.height.before),
                           q = at.j - (c * e.width.stride - e.width.before);
        const std::int64_t w = ((at.n * e.height.windows + r) * e.width.windows + c) * e.channels + at.channel;
        if (places[w] == p * e.width.places + q) sum += dy[w];
      }
    dx[i] = sum;
  });
}

// The share of each place of window (i, j) in its mean.
template <class T>
__device__ T share_of(const image_extents& e, std::int64_t i, std::int64_t j) {
  const run_of rows = places_inside(e.height, i), columns = places_inside(e.width, j);
  return static_cast<T>(1.0 / static_cast<double>((rows.last - rows.first) * (columns.last - columns.first)));
}

template <class T>
__global__ void add_shares(const T* x, T* y, std::int64_t count, image_extents e) {
  for_own_elements(count, e.height.windows, e.width.windows, e.channels, [&](std::int64_t i, const image_place& w) {
    const run_of rows = places_inside(e.height, w.i), columns = places_inside(e.width, w.j);
    const T share = share_of<T>(e, w.i, w.j);
    const std::int64_t top = w.i * e.height.stride - e.height.before, left = w.j * e.width.stride - e.width.before;
    T sum = 0;
    for (std::int64_t p = rows.first; p < rows.last; ++p)
      for (std::int64_t q = columns.first; q < columns.last; ++q)
        sum += x[((w.n * e.height.image + top + p) * e.width.image + left + q) * e.channels + w.channel] * share;
    y[i] = sum;
  });
}

template <class T>
__global__ void give_shares(const T* dy, T* dx, std::int64_t count, image_extents e) {
  for_own_elements(count, e.height.image, e.width.image, e.channels, [&](std::int64_t i, const image_place& at) {
    const run_of rows = windows_over(e.height, at.i), columns = windows_over(e.width, at.j);
    T sum = 0;
    for (std::int64_t r = rows.first; r < rows.last; ++r)
      for (std::int64_t c = columns.first; c < columns.last; ++c)
        sum +=
            dy[((at.n * e.height.windows + r) * e.width.windows + c) * e.channels + at.channel] * share_of<T>(e, r, c);
    dx[i] = sum;
  });
}

// Launches a kernel that has a thread for each element of the windows, or of the images.
template <class... Parameters, class... Arguments>
void launch_over(cudaStream_t stream, std::int64_t count, const image_extents& e, void (*kernel)(Parameters...),
                 Arguments... arguments) {
  if (count > 0) launch(stream, kernel, blocks_for(count), threads_of_block, arguments..., count, e);
}

template <class T>
void greatest_places(CUstream_st* stream, const T* images, std::int32_t* places, const image_extents& e) {
  launch_over(stream, windows_count(e), e, find_greatest<T>, images, places);
}
template <class T>
void take_at_places(CUstream_st* stream, const T* images, const std::int32_t* places, T* windows,
                    const image_extents& e) {
  launch_over(stream, windows_count(e), e, take_places<T>, images, places, windows);
}
template <class T>
void add_at_places(CUstream_st* stream, const T* windows, const std::int32_t* places, T* images,
                   const image_extents& e) {
  launch_over(stream, images_count(e), e, add_places<T>, windows, places, images);
}
template <class T>
void pool_greatest(CUstream_st* stream, const T* images, T* windows, const image_extents& e) {
  launch_over(stream, windows_count(e), e, copy_greatest<T>, images, windows);
}
template <class T>
void pool_means(CUstream_st* stream, const T* images, T* windows, const image_extents& e) {
  launch_over(stream, windows_count(e), e, add_shares<T>, images, windows);
}
template <class T>
void share_means(CUstream_st* stream, const T* windows, T* images, const image_extents& e) {
  launch_over(stream, images_count(e), e, give_shares<T>, windows, images);
}

}}}  // namespace pinion::v0::cuda
