// Products of floats whose operands are rounded to 16 bits first and whose results are added up in float: by oneDNN
// where the processor multiplies such numbers, and otherwise in float, by rounded copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <pinion/base/half.hpp>
#include <pinion/op/matmul/onednn.hpp>
#include <pinion/op/matmul/product.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Tells whether oneDNN multiplies numbers of a dtype faster than floats here. Its fpmath_mode, which would take floats,
// does so on processors with matrix tiles alone.
inline bool has_fast_products(dtype compute) {
#if PINION_HAS_ONEDNN && defined(__x86_64__)
  constexpr auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return compute == dtype::bfloat16 && (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
#else
  (void)compute;
  return false;
#endif
}

namespace detail {

// Rounds a block at a time, since g++ makes vectors at -O2 of loops alone whose length it knows.
template <class Narrow>
void round_numbers_to(const float* from, float* to, std::int64_t count) {
  constexpr std::int64_t block = 32;
  float some[block];
  for (; count >= block; count -= block, from += block, to += block) {
    for (std::int64_t i = 0; i < block; ++i) some[i] = static_cast<float>(Narrow(from[i]));
    std::copy_n(some, block, to);
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(Narrow(from[i]));
}
// Rounds floats to a dtype of 16 bits.
inline void round_numbers(dtype compute, const float* from, float* to, std::int64_t count) {
  compute == dtype::half ? round_numbers_to<half>(from, to, count) : round_numbers_to<bfloat16>(from, to, count);
}

// Some numbers as a product takes them: those that are given, or a copy of them that is rounded to `compute`.
template <class T>
class rounded_numbers {
 public:
  rounded_numbers(dtype compute, const T* given, std::int64_t count) : numbers_(given) {
    if constexpr (std::is_same_v<T, float>)
      if (compute != dtype::float32) {
        copy_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
        round_numbers(compute, given, copy_.get(), count);
        numbers_ = copy_.get();
      }
  }
  const T* get() const { return numbers_; }

 private:
  const T* numbers_;
  std::unique_ptr<T[]> copy_;
};

// A copy of a matrix with rounded numbers, row behind row.
inline std::unique_ptr<float[]> rounded_matrix(dtype compute, const float* from, std::int64_t rows,
                                               std::int64_t columns, std::int64_t leading) {
  auto copy = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) round_numbers(compute, from + i * leading, copy.get() + i * columns, columns);
  return copy;
}

// Computes a product of rounded copies by multiply(product of floats).
template <class Multiply>
void multiply_rounded(product<float> p, Multiply multiply) {
  const std::int64_t rows_a = p.transpose_a ? p.k : p.m, columns_a = p.transpose_a ? p.m : p.k;
  const std::int64_t rows_b = p.transpose_b ? p.n : p.k, columns_b = p.transpose_b ? p.k : p.n;
  const auto a = rounded_matrix(p.compute, p.a, rows_a, columns_a, p.lda);
  const auto b = rounded_matrix(p.compute, p.b, rows_b, columns_b, p.ldb);
  p.a = a.get(), p.lda = columns_a;
  p.b = b.get(), p.ldb = columns_b;
  p.compute = dtype::float32;
  multiply(p);
}

#if PINION_HAS_ONEDNN
// A product by oneDNN, which is given copies of the operands in bfloat16, stored in the same order. oneDNN keeps the
// primitives of the latest shapes, so that making one takes about a microsecond.
inline void onednn_bfloat16_gemm(const product<float>& p) {
  using type = dnnl::memory::data_type;
  using strides = dnnl::memory::dims;
  const auto stored = [](bool transposed, std::int64_t leading) {
    return transposed ? strides{1, leading} : strides{leading, 1};
  };
  const onednn_desc a({p.m, p.k}, type::f32, stored(p.transpose_a, p.lda));
  const onednn_desc b({p.k, p.n}, type::f32, stored(p.transpose_b, p.ldb));
  const onednn_desc narrow_a({p.m, p.k}, type::bf16, stored(p.transpose_a, p.transpose_a ? p.m : p.k));
  const onednn_desc narrow_b({p.k, p.n}, type::bf16, stored(p.transpose_b, p.transpose_b ? p.k : p.n));
  const onednn_desc c({p.m, p.n}, type::f32, stored(false, p.ldc));
  calling_onednn([&] {
    dnnl::primitive_attr attr = scratch_of_caller();
    if (p.add) {
      dnnl::post_ops sum;
      sum.append_sum();
      attr.set_post_ops(sum);
    }
    const auto made = onednn_description<dnnl::matmul>(attr, narrow_a, narrow_b, c);
    const onednn_call call(dnnl::matmul(made),
                           {{DNNL_ARG_SRC, a, narrow_a}, {DNNL_ARG_WEIGHTS, b, narrow_b}, {DNNL_ARG_DST, c, c, true}},
                           made.scratchpad_desc());
    call({const_cast<float*>(p.a), const_cast<float*>(p.b), p.c});
  });
}
#endif

// Computes a product whose operands are to be rounded; multiply(product of floats) computes one of floats. The way
// depends on the processor and on the extents, so that the same operands yield the same bits in any thread.
template <class Multiply>
void rounded_gemm(const product<float>& p, Multiply multiply) {
#if PINION_HAS_ONEDNN
  constexpr std::int64_t worth_a_call = 1 << 19;  // below, the copies take longer than the product
  if (p.m * p.n * p.k >= worth_a_call && has_fast_products(p.compute)) return onednn_bfloat16_gemm(p);
#endif
  multiply_rounded(p, multiply);
}

}  // namespace detail

}}}  // namespace pinion::v0::op
