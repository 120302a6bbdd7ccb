// C = op(A) op(B): by oneDNN for float, by a CBLAS for double and for float without oneDNN, and by a plain loop for the
// rest. Operands of float may be rounded to 16 bits first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include <pinion/base/arithmetic.hpp>
#include <pinion/base/calls_until_exit.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>
#include <pinion/op/matmul/library_thread.hpp>
#include <pinion/op/matmul/product.hpp>
#include <pinion/op/matmul/rounded_gemm.hpp>

#if PINION_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#if PINION_HAS_CBLAS
#define bfloat16 cblas_bfloat16  // OpenBLAS has a global type of that name, which would be beside pn::bfloat16
#include <cblas.h>
#undef bfloat16
#include <dlfcn.h>
#endif

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

#if PINION_HAS_ONEDNN
inline void onednn_gemm(const product<float>& p) {
  const onednn_thread ready;
  const auto status = dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f, p.a, p.lda,
                                 p.b, p.ldb, p.add ? 1.0f : 0.0f, p.c, p.ldc);
  if (status != dnnl_success) throw error(errc::internal, "dnnl_sgemm failed with status " + std::to_string(status));
}
#endif

#if PINION_HAS_CBLAS
// An OpenBLAS that was built without threads takes one caller at a time: it does not guard the list of its scratch
// memory, so two products at once may be given the same and yield wrong numbers (OpenBLAS's issue 2126). Which build a
// program has is known only when it runs, since the system chooses among those that are installed.
struct blas_callers {
  const bool one_at_a_time = is_sequential();
  std::mutex mutex = {};

 private:
  static bool is_sequential() {
    using parallel = int();  // 0: without threads
    auto* const kind = reinterpret_cast<parallel*>(dlsym(RTLD_DEFAULT, "openblas_get_parallel"));
    return kind && kind() == 0;
  }
};

inline std::unique_lock<std::mutex> blas_lock() {
  auto& callers = of_this_process<blas_callers>();
  return callers.one_at_a_time ? std::unique_lock(callers.mutex) : std::unique_lock<std::mutex>();
}

template <class T>
void blas_gemm(const product<T>& p) {
  const library_call<blas_callers> until_exit;  // OpenBLAS gives its memory back as the process ends
  const one_openmp_thread alone;
  const auto lock = blas_lock();
  const auto side = [](bool t) { return t ? CblasTrans : CblasNoTrans; };
  const auto i = [](std::int64_t x) { return static_cast<int>(x); };
  const auto call = [&](auto gemm) {
    gemm(CblasRowMajor, side(p.transpose_a), side(p.transpose_b), i(p.m), i(p.n), i(p.k), T(1), p.a, i(p.lda), p.b,
         i(p.ldb), T(p.add), p.c, i(p.ldc));
  };
  if constexpr (std::is_same_v<T, float>)
    call(cblas_sgemm);
  else
    call(cblas_dgemm);
}
#endif

// The fallback without a library, and for integers: in i-k-j order, so that the inner loop is contiguous.
template <class T>
void plain_gemm(const product<T>& p) {
  std::vector<T> row(static_cast<std::size_t>(p.n));
  for (std::int64_t i = 0; i < p.m; ++i) {
    p.add ? row.assign(p.c + i * p.ldc, p.c + i * p.ldc + p.n) : row.assign(row.size(), T{});
    for (std::int64_t x = 0; x < p.k; ++x) {
      const T a = p.transpose_a ? p.a[x * p.lda + i] : p.a[i * p.lda + x];
      for (std::int64_t j = 0; j < p.n; ++j) {
        const T b = p.transpose_b ? p.b[j * p.ldb + x] : p.b[x * p.ldb + j];
        T& sum = row[static_cast<std::size_t>(j)];
        sum = wrapped_sum(sum, wrapped_product(a, b));
      }
    }
    std::copy(row.begin(), row.end(), p.c + i * p.ldc);
  }
}

}  // namespace detail

// Is a product worth another thread, which is awake as a rule? It takes some 20 us then.
inline bool is_worth_a_thread(std::int64_t m, std::int64_t n, std::int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > 1 << 20;
}

// The number of pieces that a product is cut into for threads: one is worth tens of microseconds in a small product and
// hundreds in a large one, since each piece copies its operands anew.
inline std::int64_t product_pieces(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t operations = 2 * m * n * k;
  if (operations < 1 << 22) return 1;
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(operations >> 25, 2, 16))));
}

// The blocks of rows and of columns into which a product is cut for threads. Those of a large one are nearly square,
// since then the library reads least; none is narrower than what it needs to run at its speed.
struct product_blocks {
  std::int64_t rows, columns;  // of a block
  std::int64_t down, across;   // the number of blocks along each side

  product_blocks(std::int64_t m, std::int64_t n, std::int64_t k) : rows(m), columns(n) {
    constexpr std::int64_t narrowest = 64;
    for (std::int64_t pieces = product_pieces(m, n, k); pieces > 1; pieces /= 2) {
      std::int64_t& longer = rows >= columns ? rows : columns;
      if (longer < 2 * narrowest) break;
      longer = (longer / 2 + 15) / 16 * 16;
    }
    down = rows > 0 ? (m + rows - 1) / rows : 0;
    across = columns > 0 ? (n + columns - 1) / columns : 0;
  }
};

// Computes a product. An empty inner dimension yields zeros. The same operands yield the same bits in any thread.
template <class T>
void gemm(const product<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) {
    if (p.add) return;
    for (std::int64_t i = 0; i < p.m; ++i) std::fill_n(p.c + i * p.ldc, p.n, T{});
    return;
  }
  if constexpr (std::is_same_v<T, float>)
    if (p.compute != dtype::float32) return detail::rounded_gemm(p, [](const product<float>& q) { gemm(q); });
#if PINION_HAS_ONEDNN
  if constexpr (std::is_same_v<T, float>) return detail::onednn_gemm(p);
#endif
#if PINION_HAS_CBLAS
  if constexpr (std::is_floating_point_v<T>) return detail::blas_gemm(p);
#endif
  detail::plain_gemm(p);
}

// Makes oneDNN compile its float kernels ahead, which the first product would otherwise wait for, tens of milliseconds;
// the first product with few columns compiles others. This runs one of each.
inline void start_products() {
#if PINION_HAS_ONEDNN
  constexpr std::int64_t side = 16;
  const std::vector<float> ones(side * side, 1.0f);
  std::vector<float> sums(side * side);
  gemm(product<float>{ones.data(), ones.data(), sums.data(), side, side, side, false, false});
  gemm(product<float>{ones.data(), ones.data(), sums.data(), 2, 1, 1, false, true});
#endif
}

}}}  // namespace pinion::v0::op
