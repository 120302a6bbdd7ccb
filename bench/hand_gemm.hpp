// A matrix product written by hand for the sizes of a small network: tiles of C that stay in registers.
//
//   C[rows, 2 vectors] += A[rows, x] B[x, 2 vectors], for x = 0, 1, ...
//
// A tile has as many rows as the registers hold, and the rows of C are cut evenly; so is the inner dimension, in blocks
// of which a panel of B stays in the first-level cache. A is read in place, each number once for two vectors. B is
// copied into panels of two vectors of columns where many tiles read it, or where it is stored transposed. C, and B
// ahead of the sums, are asked for early, since they come from the last cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <pinion/op/matmul/gemm.hpp>
#include <pinion/scalar/simd.hpp>

namespace ideal {

namespace ps = pinion::scalar;

template <class Isa>
struct product_tiles {
  using V = ps::simd<float, Isa>;
  static constexpr int lanes = V::lanes, width = 2 * lanes;
  static constexpr int ahead = 24;  // rows of B
  static constexpr int most_rows = Isa::bytes == 64 ? 14 : 6;

  // One tile. The rows of A are next to each other (one number of each, then `stride` to the next x), or `stride`
  // apart.
  template <int Rows, bool Together>
  static PINION_VECTOR void tile(const float* a, std::int64_t stride, const float* b, std::int64_t ldb, float* c,
                                 std::int64_t ldc, std::int64_t k, bool adds) {
    V sum[Rows][2];
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = 0.0f;
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) __builtin_prefetch(c + r * ldc, 1), __builtin_prefetch(c + r * ldc + lanes, 1);
    const float* rows[(Rows + 2) / 3];  // few pointers: two more rows are a multiple of the stride behind each
#pragma GCC unroll 14
    for (int r = 0; r < Rows; r += 3) rows[r / 3] = a + r * stride;
    for (std::int64_t x = 0; x < k; ++x, b += ldb) {
      const V b0 = V::load(b), b1 = V::load(b + lanes);
      __builtin_prefetch(b + ahead * ldb), __builtin_prefetch(b + ahead * ldb + lanes);
#pragma GCC unroll 14
      for (int r = 0; r < Rows; ++r) {
        const V v = Together ? a[r] : rows[r / 3][r % 3 * stride];
        sum[r][0] = fma(v, b0, sum[r][0]);
        sum[r][1] = fma(v, b1, sum[r][1]);
      }
      a += stride;
#pragma GCC unroll 14
      for (int r = 0; r < Rows; r += 3) ++rows[r / 3];
    }
    if (adds) {
#pragma GCC unroll 14
      for (int r = 0; r < Rows; ++r)
        sum[r][0] = sum[r][0] + V::load(c + r * ldc), sum[r][1] = sum[r][1] + V::load(c + r * ldc + lanes);
    }
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) sum[r][0].store(c + r * ldc), sum[r][1].store(c + r * ldc + lanes);
  }

  template <bool Together, int Rows = most_rows>
  static PINION_VECTOR void tile_of(int rows, const float* a, std::int64_t stride, const float* b, std::int64_t ldb,
                                    float* c, std::int64_t ldc, std::int64_t k, bool adds) {
    if (rows == Rows) return tile<Rows, Together>(a, stride, b, ldb, c, ldc, k, adds);
    if constexpr (Rows > 1) tile_of<Together, Rows - 1>(rows, a, stride, b, ldb, c, ldc, k, adds);
  }

  // Transposes a square of lanes x lanes: exchanges squares of half the size, and so on inside them.
  template <int Half, int... I>
  static PINION_VECTOR void exchange(V* rows, std::integer_sequence<int, I...>) {
#pragma GCC unroll 16
    for (int r = 0; r < lanes; ++r) {
      if (r & Half) continue;
      const auto above = rows[r].raw(), below = rows[r + Half].raw();
      rows[r] = V(__builtin_shufflevector(above, below, (I & Half ? lanes + I - Half : I)...));
      rows[r + Half] = V(__builtin_shufflevector(above, below, (I & Half ? lanes + I : I + Half)...));
    }
    if constexpr (Half > 1) exchange<Half / 2>(rows, std::make_integer_sequence<int, lanes>{});
  }

  static std::int64_t tiles(std::int64_t m) {
    return (m + most_rows - 1) / most_rows;
  }
  static std::int64_t first_row(std::int64_t m, std::int64_t tile) {
    return m * tile / tiles(m);
  }

  // Copies rows [from, from + k) of B into panels [n / width][k][width].
  static PINION_VECTOR void pack(const pinion::op::product<float>& p, std::int64_t from, std::int64_t k, float* to) {
    const std::int64_t end = from + k;
    for (std::int64_t j = 0; j < p.n; j += width) {
      std::int64_t x = from;
      for (; p.transpose_b && x + lanes <= end; x += lanes) {
        for (int half = 0; half < 2; ++half) {
          V square[lanes];
#pragma GCC unroll 16
          for (int i = 0; i < lanes; ++i) square[i] = V::load(p.b + (j + half * lanes + i) * p.k + x);
          exchange<lanes / 2>(square, std::make_integer_sequence<int, lanes>{});
#pragma GCC unroll 16
          for (int i = 0; i < lanes; ++i) square[i].store(to + i * width + half * lanes);
        }
        to += lanes * width;
      }
      for (; x < end; ++x, to += width) {
        if (p.transpose_b) {
          for (int i = 0; i < width; ++i) to[i] = p.b[(j + i) * p.k + x];
        } else {
          V::load(p.b + x * p.n + j).store(to), V::load(p.b + x * p.n + j + lanes).store(to + lanes);
        }
      }
    }
  }
};

struct tiled_product {
  // `packed` is room for copies of B, or null.
  template <class Isa>
  static PINION_INLINE void run(const pinion::op::product<float>* of, std::int64_t blocks, float* packed) {
    using T = product_tiles<Isa>;
    const auto& p = *of;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t from = p.k * block / blocks, k = p.k * (block + 1) / blocks - from;
      if (packed) T::pack(p, from, k, packed);
      for (std::int64_t t = 0; t < T::tiles(p.m); ++t) {
        const std::int64_t i = T::first_row(p.m, t);
        const int rows = static_cast<int>(T::first_row(p.m, t + 1) - i);
        for (std::int64_t j = 0; j < p.n; j += T::width) {
          const float* b = packed ? packed + j * k : p.b + from * p.n + j;
          const std::int64_t ldb = packed ? T::width : p.n;
          float* c = p.c + i * p.n + j;
          if (p.transpose_a)
            T::template tile_of<true>(rows, p.a + from * p.m + i, p.m, b, ldb, c, p.n, k, block > 0);
          else
            T::template tile_of<false>(rows, p.a + i * p.k + from, p.k, b, ldb, c, p.n, k, block > 0);
        }
      }
    }
  }
};

// Room for n floats, from the beginning of a cache line on; it grows and is used again.
class line_buffer {
 public:
  float* of(std::int64_t n) {
    constexpr std::size_t line = 64;
    room_.resize(std::max(room_.size(), static_cast<std::size_t>(n) + line / sizeof(float)));
    const auto address = reinterpret_cast<std::uintptr_t>(room_.data());
    return room_.data() + (line - address % line) % line / sizeof(float);
  }

 private:
  std::vector<float> room_;
};

// The product, where the columns fill tiles; else by the library.
inline void multiply(const pinion::op::product<float>& p) {
  constexpr std::int64_t most_inner = 256, many_rows = 128;
  if (p.n % (ps::isa::bytes(ps::isa::best()) / 2) != 0) return pinion::op::gemm(p);
  static thread_local line_buffer panels;
  const std::int64_t blocks = (p.k + most_inner - 1) / most_inner;
  const bool packs = p.transpose_b || p.m >= many_rows;
  ps::dispatch<tiled_product>(&p, blocks, packs ? panels.of(p.n * ((p.k + blocks - 1) / blocks)) : nullptr);
}

}  // namespace ideal
