// Bodies of <pinion/op/matmul/cuda_kernels.hpp>.
#pragma once

#include <pinion/op/matmul/cuda_kernels.hpp>
#include <pinion/op/matmul/cuda_tiles.cuh>

namespace pinion { inline namespace v0 { namespace cuda {

// Matrices in memory, each as it is or transposed.
template <class T, bool TransposeA, bool TransposeB>
struct matrix_pass {
  using row = std::int64_t;
  using level = std::int64_t;
  static constexpr bool a_along_depth = !TransposeA, b_along_depth = TransposeB;
  const T *left, *right;
  std::int64_t rows, columns, depth;

  __device__ row row_at(std::int64_t r) const { return r; }
  __device__ level level_at(std::int64_t k) const { return k; }
  __device__ T a(row r, level k) const { return left[TransposeA ? k * rows + r : r * depth + k]; }
  __device__ T b(std::int64_t k, std::int64_t column) const {
    return right[TransposeB ? column * depth + k : k * columns + column];
  }
};

template <class T>
void multiply(CUstream_st* stream, const T* a, const T* b, T* c, T* scratch, const product_extents& of,
              const product_end<T>& end) {
  const auto run = [&]<bool TransposeA, bool TransposeB>() {
    run_pass(stream, matrix_pass<T, TransposeA, TransposeB>{a, b, of.m, of.n, of.k}, cut_tiles(of.m, of.n, of.k), c,
             scratch, end);
  };
  if (of.transpose_a)
    of.transpose_b ? run.template operator()<true, true>() : run.template operator()<true, false>();
  else
    of.transpose_b ? run.template operator()<false, true>() : run.template operator()<false, false>();
}

std::int64_t multiply_scratch(const product_extents& of) {
  return cut_tiles(of.m, of.n, of.k).scratch();
}

template <class T>
void end_product(CUstream_st* stream, T* c, std::int64_t m, std::int64_t n, const product_end<T>& end) {
  if (!end.is_plain()) end_parts<T>(stream, c, c, {m, n, 0}, end);
}

template void multiply(CUstream_st*, const float*, const float*, float*, float*, const product_extents&,
                       const product_end<float>&);
template void multiply(CUstream_st*, const double*, const double*, double*, double*, const product_extents&,
                       const product_end<double>&);
template void end_product(CUstream_st*, float*, std::int64_t, std::int64_t, const product_end<float>&);
template void end_product(CUstream_st*, double*, std::int64_t, std::int64_t, const product_end<double>&);

}}}  // namespace pinion::v0::cuda
