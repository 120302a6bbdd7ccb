// Bodies of <pinion/device/cuda/sorting.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/device/cuda/launch.cuh>
#include <pinion/device/cuda/sorting.hpp>
#include <pinion/device/cuda/wrong_values.cuh>

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#endif

namespace pinion { inline namespace v0 { namespace cuda {

// The sort proper: keys with their positions, by keys, stable. thrust::stable_sort_by_key, which the host's compiler
// has too, takes memory that it asks for while it runs, where a step plans memory ahead, and sorts by all 32 bits of a
// key, where those of the rows will do. The host's compiler has no kernels of CUB; there one thread sorts.
#ifdef __CUDACC__
struct key_sort {
  static std::size_t scratch(std::int64_t n, int bits) {
    std::size_t bytes = 0;
    sorted(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, n, bits, nullptr);
    return bytes;
  }
  static void run(cudaStream_t stream, void* scratch, std::size_t bytes, const std::uint32_t* keys,
                  std::uint32_t* keys_sorted, const std::uint32_t* positions, std::uint32_t* positions_sorted,
                  std::int64_t n, int bits) {
    sorted(scratch, bytes, keys, keys_sorted, positions, positions_sorted, n, bits, stream);
  }

 private:
  static void sorted(void* scratch, std::size_t& bytes, const std::uint32_t* keys, std::uint32_t* keys_sorted,
                     const std::uint32_t* positions, std::uint32_t* positions_sorted, std::int64_t n, int bits,
                     cudaStream_t stream) {
    if (const cudaError_t failed =
            cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, keys_sorted, positions, positions_sorted,
                                            static_cast<std::uint32_t>(n), 0, bits, stream))
      throw std::runtime_error(std::string("a sort of indices was not launched: ") + cudaGetErrorString(failed));
  }
};
#else
__global__ void sort_in_one_thread(const std::uint32_t* keys, std::uint32_t* keys_sorted,
                                   const std::uint32_t* positions, std::uint32_t* positions_sorted, std::int64_t n) {
  std::copy_n(positions, n, positions_sorted);
  std::stable_sort(positions_sorted, positions_sorted + n,
                   [=](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (std::int64_t i = 0; i < n; ++i) keys_sorted[i] = keys[positions_sorted[i]];
}
struct key_sort {
  static std::size_t scratch(std::int64_t, int) { return 1; }
  static void run(cudaStream_t stream, void*, std::size_t, const std::uint32_t* keys, std::uint32_t* keys_sorted,
                  const std::uint32_t* positions, std::uint32_t* positions_sorted, std::int64_t n, int) {
    launch(stream, sort_in_one_thread, 1, 1, keys, keys_sorted, positions, positions_sorted, n);
  }
};
#endif

template <class T>
__global__ void make_keys(const T* indices, std::int64_t n, std::int64_t rows, std::uint32_t* keys,
                          std::uint32_t* positions, first_wrong* wrong) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const auto index = static_cast<std::int64_t>(indices[i]);
    const bool inside = index >= 0 && index < rows;
    if (!inside && wrong) note_wrong(wrong, i);
    keys[i] = static_cast<std::uint32_t>(inside ? index : rows);
    positions[i] = static_cast<std::uint32_t>(i);
  }
}

// Bytes of n words, rounded up so that what follows them is aligned.
inline std::size_t aligned_words(std::int64_t n) {
  return (static_cast<std::size_t>(n) * sizeof(std::uint32_t) + 255) / 256 * 256;
}

// The bits of the greatest key, which is `rows`.
inline int bits_of_rows(std::int64_t rows) {
  int bits = 1;
  while (rows >> bits) ++bits;
  return bits;
}

std::size_t sort_positions_scratch(std::int64_t n, std::int64_t rows) {
  if (n >= std::int64_t{1} << 31 || rows >= (std::int64_t{1} << 32) - 1)
    throw std::runtime_error(std::to_string(n) + " indices of " + std::to_string(rows) +
                             " rows are not sorted on a GPU, which sorts fewer than 2^31 indices of fewer than 2^32 - "
                             "1 rows; a /cpu:0 guard around the op lets the host do it");
  return 2 * aligned_words(n) + key_sort::scratch(n, bits_of_rows(rows));
}

template <class T>
void sort_positions(CUstream_st* stream, const T* indices, std::int64_t n, std::int64_t rows,
                    std::uint32_t* rows_sorted, std::uint32_t* positions, void* scratch, first_wrong* wrong) {
  if (n == 0) return;
  const std::size_t bytes = sort_positions_scratch(n, rows);
  auto* const keys = static_cast<std::uint32_t*>(scratch);
  auto* const places = keys + aligned_words(n) / sizeof(std::uint32_t);
  auto* const rest = places + aligned_words(n) / sizeof(std::uint32_t);
  launch(stream, make_keys<T>, blocks_for(n), threads_of_block, indices, n, rows, keys, places, wrong);
  if (wrong) keep_value(stream, indices, wrong);
  key_sort::run(stream, rest, bytes - 2 * aligned_words(n), keys, rows_sorted, places, positions, n,
                bits_of_rows(rows));
}

template void sort_positions(CUstream_st*, const std::int32_t*, std::int64_t, std::int64_t, std::uint32_t*,
                             std::uint32_t*, void*, first_wrong*);
template void sort_positions(CUstream_st*, const std::int64_t*, std::int64_t, std::int64_t, std::uint32_t*,
                             std::uint32_t*, void*, first_wrong*);

}}}  // namespace pinion::v0::cuda
