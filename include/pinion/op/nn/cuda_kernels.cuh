// Bodies of <pinion/op/nn/cuda_kernels.hpp>.
//
// A row is the work of a group of threads: of some lanes of a warp, or of a block. They keep its logits in registers,
// so that a row is read once and written once; only a row of more than `most_kept` logits is read again for each of the
// three passes, the maximum, the sum and the results. The order in which numbers are added depends on n alone.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/device/cuda/wrong_values.cuh>
#include <pinion/op/nn/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// A NaN may lose: the exponentials of its row are NaN in any case.
struct fold_greater {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return a < b ? b : a;
  }
};
struct fold_plus {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return a + b;
  }
};

__device__ __forceinline__ float exponential(float x) {
  return expf(x);
}
__device__ __forceinline__ double exponential(double x) {
  return exp(x);
}
__device__ __forceinline__ float logarithm(float x) {
  return logf(x);
}
__device__ __forceinline__ double logarithm(double x) {
  return log(x);
}

// The threads of the largest block, which takes one row: as many as have the registers to keep 16 elements each.
template <class T>
inline constexpr int most_row_threads = 256 * widest<T>;

// The rows of a launch, and the groups of threads that take them.
struct row_groups {
  std::int64_t rows, n;
  int lanes;     // threads of a group: a power of two up to 32, or a block
  bool aligned;  // every pack of 16 bytes of a row lies at a multiple of 16 bytes

  __device__ __forceinline__ int in_block() const { return static_cast<int>(blockDim.x) / lanes; }
  __device__ __forceinline__ int group() const { return static_cast<int>(threadIdx.x) / lanes; }
  __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x) % lanes; }
};

// The elements of a row that a thread has: `Packs` packs, those of a group in alternation. `Kept` says that they stay
// in registers.
template <class T, int Packs>
class row_part {
 public:
  static constexpr int width = widest<T>;
  static constexpr bool kept = Packs > 0;

  // `row` may be none, behind the last.
  __device__ __forceinline__ row_part(const row_groups& of, const T* matrix, std::int64_t row)
      : of_(of), row_(matrix + row * of.n), n_(row < of.rows ? of.n : 0) {
    if constexpr (kept)
#pragma unroll
      for (int i = 0; i < Packs; ++i) values_[i] = load(row_, first(i));
  }

  // Calls f(column, pack, elements of the pack) for each pack that has elements.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    if constexpr (kept) {
#pragma unroll
      for (int i = 0; i < Packs; ++i)
        if (first(i) < n_) f(first(i), values_[i], n_ - first(i));
    } else {
      for (std::int64_t i = 0, at = first(0); at < n_; at = first(++i)) f(at, load(row_, at), n_ - at);
    }
  }
  __device__ __forceinline__ pack<T, width> load(const T* row, std::int64_t at) const {
    return load_pack<width>(row + at, n_ - at, T(0), of_.aligned && at + width <= n_);
  }
  __device__ __forceinline__ void store(T* row, std::int64_t at, const pack<T, width>& values) const {
    store_pack(row + at, values, n_ - at, of_.aligned && at + width <= n_);
  }

 private:
  __device__ __forceinline__ std::int64_t first(std::int64_t i) const {
    return (i * of_.lanes + of_.lane()) * width;
  }

  const row_groups& of_;
  const T* row_;
  std::int64_t n_;
  pack<T, width> values_[kept ? Packs : 1];
};

// The greatest logit of a row, and the sum of e^(logit - greatest). All threads of the block make it.
template <class T>
struct row_sums {
  T greatest, sum;

  template <int Packs>
  __device__ __forceinline__ row_sums(const row_groups& of, const row_part<T, Packs>& part)
      : greatest(-std::numeric_limits<T>::infinity()), sum(0) {
    constexpr int width = widest<T>;
    part.each([this](std::int64_t, const pack<T, width>& x, std::int64_t n) {
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (i < n) greatest = fold_greater::combine(greatest, x.at[i]);
    });
    greatest = fold_group<fold_greater>(greatest, of.lanes);
    part.each([this](std::int64_t, const pack<T, width>& x, std::int64_t n) {
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (i < n) sum += exponential(x.at[i] - greatest);
    });
    sum = fold_group<fold_plus>(sum, of.lanes);
  }
};

template <int Packs, int Threads, class T>
__global__ void __launch_bounds__(Threads) softmax_rows(row_groups of, const T* x, T* y, bool logs) {
  constexpr int width = widest<T>;
  for (std::int64_t first = std::int64_t{blockIdx.x} * of.in_block(); first < of.rows;
       first += std::int64_t{gridDim.x} * of.in_block()) {
    const std::int64_t row = first + of.group();
    const row_part<T, Packs> part(of, x, row);
    const row_sums<T> sums(of, part);
    const T log_sum = logs ? logarithm(sums.sum) : T(0), share = T(1) / sums.sum;
    T* const to = y + row * of.n;
    part.each([&](std::int64_t at, pack<T, width> values, std::int64_t) {
#pragma unroll
      for (T& v : values.at) v = logs ? v - sums.greatest - log_sum : exponential(v - sums.greatest) * share;
      part.store(to, at, values);
    });
  }
}

template <int Packs, int Threads, class T>
__global__ void __launch_bounds__(Threads)
    cross_entropy_rows(row_groups of, const T* labels, const T* x, T* loss, T* backprop) {
  constexpr int width = widest<T>;
  for (std::int64_t first = std::int64_t{blockIdx.x} * of.in_block(); first < of.rows;
       first += std::int64_t{gridDim.x} * of.in_block()) {
    const std::int64_t row = first + of.group(), begin = row * of.n;
    const row_part<T, Packs> part(of, x, row);
    const row_sums<T> sums(of, part);
    const T log_sum = logarithm(sums.sum), share = T(1) / sums.sum;
    T cost = 0;
    part.each([&](std::int64_t at, pack<T, width> values, std::int64_t n) {
      const pack<T, width> weights = part.load(labels + begin, at);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const T w = weights.at[i], above = values.at[i] - sums.greatest;
        if (i < n && w != T(0)) cost += w * (log_sum - above);
        values.at[i] = exponential(above) * share - w;
      }
      if (backprop) part.store(backprop + begin, at, values);
    });
    cost = fold_group<fold_plus>(cost, of.lanes);
    if (row < of.rows && of.lane() == 0) loss[row] = cost;
  }
}

template <int Packs, int Threads, class T, class Label>
__global__ void __launch_bounds__(Threads) sparse_cross_entropy_rows(row_groups of, const Label* labels, const T* x,
                                                                     T* loss, T* backprop, first_wrong* wrong) {
  constexpr int width = widest<T>;
  for (std::int64_t first = std::int64_t{blockIdx.x} * of.in_block(); first < of.rows;
       first += std::int64_t{gridDim.x} * of.in_block()) {
    const std::int64_t row = first + of.group(), begin = row * of.n;
    std::int64_t label = row < of.rows ? static_cast<std::int64_t>(labels[row]) : 0;
    const bool is_wrong = label < 0 || label >= of.n;
    if (is_wrong) label = 0;
    const row_part<T, Packs> part(of, x, row);
    const row_sums<T> sums(of, part);
    if (backprop) {
      const T share = T(1) / sums.sum;
      part.each([&](std::int64_t at, pack<T, width> values, std::int64_t) {
#pragma unroll
        for (int i = 0; i < width; ++i)
          values.at[i] = exponential(values.at[i] - sums.greatest) * share - (at + i == label ? T(1) : T(0));
        part.store(backprop + begin, at, values);
      });
    }
    if (row >= of.rows || of.lane() != 0) continue;
    if (is_wrong) note_wrong(wrong, row);
    if (of.n > 0) loss[row] = logarithm(sums.sum) - (x[begin + label] - sums.greatest);
  }
}

// The launch of a kernel of rows: the fewest threads for a row that keep it in registers.
template <class T>
struct row_launch {
  // The ways to take a row, the shortest first: by some lanes of a warp that keep 4 elements each, by a warp that keeps
  // 16 or up to 64, by a block of 256 threads or of the most, which keep 16; and by such a block that keeps none.
  enum class way { few, many, most, block, large_block, none };
  static constexpr int few = 4 / widest<T>, many = 16 / widest<T>, most = 16;  // packs
  static constexpr int warps = threads_of_block, large = most_row_threads<T>;  // threads

  row_groups of;
  way by;
  unsigned blocks, threads;

  row_launch(std::int64_t rows, std::int64_t n, bool aligned)
      : of{rows, n, 32, aligned && n % widest<T> == 0},
        by(n <= 32 * 4                     ? way::few
           : n <= 32 * 16                  ? way::many
           : n <= 32 * most * widest<T>    ? way::most
           : n <= std::int64_t{16} * warps ? way::block
           : n <= std::int64_t{16} * large ? way::large_block
                                           : way::none),
        threads(by < way::large_block ? warps : large) {
    if (by == way::few) of.lanes = power_of_two_from((n + 3) / 4);
    if (by >= way::block) of.lanes = static_cast<int>(threads);
    blocks = blocks_for(rows * of.lanes / threads * threads_of_block + 1);
  }
  // Launches one of the kernels of these ways.
  template <class... Parameters, class... Arguments>
  void run(CUstream_st* stream, const std::array<void (*)(row_groups, Parameters...), 6>& kernels,
           Arguments... arguments) const {
    if (of.rows > 0) launch(stream, kernels[static_cast<std::size_t>(by)], blocks, threads, of, arguments...);
  }
};

// The kernels of the ways of a launch, in their order.
#define PINION_ROW_KERNELS(kernel, T, ...)                                                \
  std::array {                                                                            \
    &kernel<row_launch<T>::few, row_launch<T>::warps, T __VA_OPT__(, ) __VA_ARGS__>,      \
        &kernel<row_launch<T>::many, row_launch<T>::warps, T __VA_OPT__(, ) __VA_ARGS__>, \
        &kernel<row_launch<T>::most, row_launch<T>::warps, T __VA_OPT__(, ) __VA_ARGS__>, \
        &kernel<row_launch<T>::many, row_launch<T>::warps, T __VA_OPT__(, ) __VA_ARGS__>, \
        &kernel<row_launch<T>::many, row_launch<T>::large, T __VA_OPT__(, ) __VA_ARGS__>, \
        &kernel<0, row_launch<T>::large, T __VA_OPT__(, ) __VA_ARGS__>                    \
  }

template <class T>
void softmax_or_its_log(CUstream_st* stream, const T* x, T* y, std::int64_t rows, std::int64_t n, bool logs) {
  if (n > 0)
    row_launch<T>(rows, n, is_aligned(x) && is_aligned(y)).run(stream, PINION_ROW_KERNELS(softmax_rows, T), x, y, logs);
}

template <class T>
void softmax(CUstream_st* stream, const T* x, T* y, std::int64_t rows, std::int64_t n) {
  softmax_or_its_log(stream, x, y, rows, n, false);
}

template <class T>
void log_softmax(CUstream_st* stream, const T* x, T* y, std::int64_t rows, std::int64_t n) {
  softmax_or_its_log(stream, x, y, rows, n, true);
}

template <class T>
void cross_entropy(CUstream_st* stream, const T* labels, const T* logits, T* loss, T* backprop, std::int64_t rows,
                   std::int64_t n) {
  row_launch<T>(rows, n, is_aligned(labels) && is_aligned(logits) && is_aligned(backprop))
      .run(stream, PINION_ROW_KERNELS(cross_entropy_rows, T), labels, logits, loss, backprop);
}

template <class T, class Label>
void sparse_cross_entropy(CUstream_st* stream, const Label* labels, const T* logits, T* loss, T* backprop,
                          std::int64_t rows, std::int64_t n, first_wrong* wrong) {
  if (rows == 0) return;
  row_launch<T>(rows, n, is_aligned(logits) && is_aligned(backprop))
      .run(stream, PINION_ROW_KERNELS(sparse_cross_entropy_rows, T, Label), labels, logits, loss, backprop, wrong);
  keep_value(stream, labels, wrong);
}

template <class T>
__global__ void scale_packs(const T* x, const T* factors, T* y, std::int64_t rows, std::int64_t n, int width) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x, packs = n / width;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * packs; i += step) {
    const bool is_short = i < std::int64_t{1} << 32 && packs < std::int64_t{1} << 32;  // a quarter of a wide division
    const std::int64_t row = is_short ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(packs) : i / packs;
    const T factor = factors[row];
    if (width == 1) {
      y[i] = x[i] * factor;
      continue;
    }
    auto values = load_pack<widest<T>>(x + i * width, width, T(0), true);
#pragma unroll
    for (T& v : values.at) v *= factor;
    store_pack(y + i * width, values, width, true);
  }
}

template <class T>
void scale_rows(CUstream_st* stream, const T* x, const T* factors, T* y, std::int64_t rows, std::int64_t n) {
  const int width = n % widest<T> == 0 && is_aligned(x) && is_aligned(y) ? widest<T> : 1;
  if (rows * n > 0)
    launch(stream, scale_packs<T>, blocks_for(rows * (n / width)), threads_of_block, x, factors, y, rows, n, width);
}

template void softmax(CUstream_st*, const float*, float*, std::int64_t, std::int64_t);
template void softmax(CUstream_st*, const double*, double*, std::int64_t, std::int64_t);
template void log_softmax(CUstream_st*, const float*, float*, std::int64_t, std::int64_t);
template void log_softmax(CUstream_st*, const double*, double*, std::int64_t, std::int64_t);
template void scale_rows(CUstream_st*, const float*, const float*, float*, std::int64_t, std::int64_t);
template void scale_rows(CUstream_st*, const double*, const double*, double*, std::int64_t, std::int64_t);
template void cross_entropy(CUstream_st*, const float*, const float*, float*, float*, std::int64_t, std::int64_t);
template void cross_entropy(CUstream_st*, const double*, const double*, double*, double*, std::int64_t, std::int64_t);
template void sparse_cross_entropy(CUstream_st*, const std::int32_t*, const float*, float*, float*, std::int64_t,
                                   std::int64_t, first_wrong*);
template void sparse_cross_entropy(CUstream_st*, const std::int64_t*, const float*, float*, float*, std::int64_t,
                                   std::int64_t, first_wrong*);
template void sparse_cross_entropy(CUstream_st*, const std::int32_t*, const double*, double*, double*, std::int64_t,
                                   std::int64_t, first_wrong*);
template void sparse_cross_entropy(CUstream_st*, const std::int64_t*, const double*, double*, double*, std::int64_t,
                                   std::int64_t, first_wrong*);

#undef PINION_ROW_KERNELS

}}}  // namespace pinion::v0::cuda
