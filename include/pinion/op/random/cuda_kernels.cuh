// Bodies of <pinion/op/random/cuda_kernels.hpp>.
#pragma once

#include <cmath>

#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/random/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

using op::detail::per_block;
using op::detail::random_stream;

// The elements that one block of random bits makes, which one access can write.
template <class T>
struct alignas(16) random_block {
  T of[per_block<T>];
};

// ---- uniform numbers

// a + b * c, rounded twice as on the host: nvcc would make one fused operation of it.
__device__ inline float sum_with_product(float a, float b, float c) {
  return __fadd_rn(a, __fmul_rn(b, c));
}
__device__ inline double sum_with_product(double a, double b, double c) {
  return __dadd_rn(a, __dmul_rn(b, c));
}

template <class T>
struct uniform_block {
  T least, end, greatest;

  __device__ random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    const auto bits = from.bits(block, 0);
    random_block<T> y;
    for (int i = 0; i < per_block<T>; ++i) {
      const T unit = op::detail::unit_interval<T>(op::detail::word<T>(bits, i));
      const T x = sum_with_product(least, unit, end - least);
      y.of[i] = x < end ? x : greatest;  // the sum may have been rounded up to `end`
    }
    return y;
  }
};

template <class T>
struct integer_block {
  std::int64_t least;
  std::uint64_t count;

  __device__ random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    const auto bits = from.bits(block, 0);
    random_block<T> y;
    for (int i = 0; i < per_block<T>; ++i)
      y.of[i] = static_cast<T>(least + static_cast<std::int64_t>(op::detail::word<T>(bits, i) % count));
    return y;
  }
};

// ---- normal numbers, in double (Box and Muller 1958)

template <class T>
__device__ void draw_pairs(double (&z)[per_block<T>], const random_stream& from, std::int64_t block,
                           std::uint32_t draw) {
  const auto bits = from.bits(block, draw);
  for (int i = 0; i < per_block<T>; i += 2) {
    const double u = op::detail::unit_of_all_bits<T>(op::detail::word<T>(bits, i)),
                 v = op::detail::unit_of_all_bits<T>(op::detail::word<T>(bits, i + 1));
    const double radius = sqrt(-2 * log(fmax(u, 0x1p-65))), angle = 6.283185307179586 * v;
    z[i] = radius * cos(angle);
    z[i + 1] = radius * sin(angle);
  }
}

template <class T>
struct normal_block {
  double mean, stddev;

  __device__ random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    double z[per_block<T>];
    draw_pairs<T>(z, from, block, 0);
    random_block<T> y;
    for (int i = 0; i < per_block<T>; ++i) y.of[i] = static_cast<T>(mean + stddev * z[i]);
    return y;
  }
};

template <class T>
struct truncated_block {
  double mean, stddev;

  __device__ static bool inside(double x) { return fabs(x) < 2; }

  // Draws again with the next draw, as the host does: the rest after 255 draws, which never happens, becomes the mean.
  __device__ random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    double z[per_block<T>], next[per_block<T>];
    draw_pairs<T>(z, from, block, 0);
    for (std::uint32_t draw = 1; draw < 256; ++draw) {
      bool all = true;
      for (double x : z) all = all && inside(x);
      if (all) break;
      draw_pairs<T>(next, from, block, draw);
      for (int i = 0; i < per_block<T>; ++i)
        if (!inside(z[i])) z[i] = next[i];
    }
    random_block<T> y;
    for (int i = 0; i < per_block<T>; ++i) y.of[i] = static_cast<T>(mean + stddev * (inside(z[i]) ? z[i] : 0));
    return y;
  }
};

// ---- all blocks

// Writes the elements of blocks; the outermost ones may be cut.
template <class T, class Block>
__global__ void draw_blocks(T* to, random_elements which, Block block, std::int64_t begin, std::int64_t end) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  const bool whole_words = which.first % per_block<T> == 0;
  random_stream bits = which.bits;
  if (which.execution) bits.execution = *which.execution;
  for (std::int64_t b = begin + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; b < end; b += step) {
    const random_block<T> drawn = block(bits, b);
    const std::int64_t at = b * per_block<T> - which.first;
    if (whole_words && at + per_block<T> <= which.n)
      *reinterpret_cast<random_block<T>*>(to + at) = drawn;
    else
      for (int i = 0; i < per_block<T>; ++i)
        if (at + i >= 0 && at + i < which.n) to[at + i] = drawn.of[i];
  }
}

template <class T, class Block>
void draw(cudaStream_t stream, T* to, const random_elements& which, Block block) {
  if (which.n == 0) return;
  const std::int64_t begin = which.first / per_block<T>, end = (which.first + which.n - 1) / per_block<T> + 1;
  launch(stream, draw_blocks<T, Block>, blocks_for(end - begin), threads_of_block, to, which, block, begin, end);
}

template <class T>
void draw_uniform(CUstream_st* stream, T* to, const random_elements& which, T least, T end, T greatest) {
  draw(stream, to, which, uniform_block<T>{least, end, greatest});
}
template <class T>
void draw_integers(CUstream_st* stream, T* to, const random_elements& which, std::int64_t least, std::uint64_t count) {
  draw(stream, to, which, integer_block<T>{least, count});
}
template <class T>
void draw_normal(CUstream_st* stream, T* to, const random_elements& which, double mean, double stddev) {
  draw(stream, to, which, normal_block<T>{mean, stddev});
}
template <class T>
void draw_truncated_normal(CUstream_st* stream, T* to, const random_elements& which, double mean, double stddev) {
  draw(stream, to, which, truncated_block<T>{mean, stddev});
}

template void draw_uniform(CUstream_st*, float*, const random_elements&, float, float, float);
template void draw_uniform(CUstream_st*, double*, const random_elements&, double, double, double);
template void draw_integers(CUstream_st*, std::int32_t*, const random_elements&, std::int64_t, std::uint64_t);
template void draw_integers(CUstream_st*, std::int64_t*, const random_elements&, std::int64_t, std::uint64_t);
template void draw_normal(CUstream_st*, float*, const random_elements&, double, double);
template void draw_normal(CUstream_st*, double*, const random_elements&, double, double);
template void draw_truncated_normal(CUstream_st*, float*, const random_elements&, double, double);
template void draw_truncated_normal(CUstream_st*, double*, const random_elements&, double, double);

}}}  // namespace pinion::v0::cuda
