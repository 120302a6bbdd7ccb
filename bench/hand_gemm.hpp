// A matrix product written by hand for the sizes of a small network: tiles of C that stay in registers.
//
//   C[rows, 2 vectors] += A[rows, x] B[x, 2 vectors], for x = 0, 1, ...
//
// A tile has as many rows as the registers hold, and the rows of C are cut evenly; so is the inner dimension, in blocks
// of which a panel of B, two vectors of columns, stays in the first-level cache while all tiles read it. B is copied
// into such panels where many tiles read it, or where it is stored transposed. A is read in place, and the next tile's
// part is asked for while the first panel is at work. A large A that is stored transposed is copied tile by tile, and
// the next block's part, which comes from the last cache, is asked for during all of a block. What is to be done with C
// is done tile by tile, while the tile is in the first-level cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <pinion/op/matmul/gemm.hpp>
#include <pinion/scalar/simd.hpp>

namespace ideal {

namespace ps = pinion::scalar;

// A part of C: rows [i, i + rows), and columns [j, j + columns), which are vectors. It lies at `c`, and its rows are
// `ldc` apart.
struct product_part {
  std::int64_t i, rows, j, columns;
  float* c;
  std::int64_t ldc;
};

// What is done with each part of C once it is there; null: nothing.
struct product_end {
  void (*run)(const void* with, product_part part) = nullptr;
  const void* with = nullptr;
  // Matrices of the form of C whose part `run` will want, too. The product asks for them early.
  const float* wants[2] = {};
  // Memory that the product after this one reads first: it is asked for during all of this one.
  const float* soon = nullptr;
  std::int64_t soon_count = 0;
  bool consumes = false;  // nobody else reads C, which then need not be in memory
};

// Room for copies of all rows of A and of a panel of B, of a block of the inner dimension, and for a tile of C. Null:
// they are where the product says.
struct product_room {
  float *a = nullptr, *b = nullptr, *c = nullptr;
};

template <class Isa>
struct product_tiles {
  using V = ps::simd<float, Isa>;
  static constexpr int lanes = V::lanes, width = 2 * lanes;
  static constexpr int ahead = 24;  // rows of B
  static constexpr std::int64_t line = 64 / sizeof(float);
  static constexpr int most_rows = Isa::bytes == 64 ? 12 : 6;

  // One tile. The rows of A are next to each other (one number of each, then `stride` to the next x), or `stride`
  // apart; so are those of the next tile.
  template <int Rows, int Vectors, bool Together>
  static PINION_VECTOR void tile(const float* a, std::int64_t stride, const float* next, const float* b,
                                 std::int64_t ldb, float* c, std::int64_t ldc, std::int64_t k, bool adds) {
    V sum[Rows][Vectors];
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v) sum[r][v] = 0.0f;
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v) __builtin_prefetch(c + r * ldc + v * lanes, 1);
    const float* rows[(Rows + 2) / 3];  // few pointers: two more rows are a multiple of the stride behind each
#pragma GCC unroll 12
    for (int r = 0; r < Rows; r += 3) rows[r / 3] = a + r * stride;
    for (std::int64_t x = 0; x < k; ++x, b += ldb) {
      V in_b[Vectors];
      for (int v = 0; v < Vectors; ++v)
        in_b[v] = V::load(b + v * lanes), __builtin_prefetch(b + ahead * ldb + v * lanes);
      if (next)  // a line of A for each x
        __builtin_prefetch(Together ? next + x * stride : next + x % line * stride + x / line * line);
#pragma GCC unroll 12
      for (int r = 0; r < Rows; ++r) {
        const V in_a = Together ? a[r] : rows[r / 3][r % 3 * stride];
        for (int v = 0; v < Vectors; ++v) sum[r][v] = fma(in_a, in_b[v], sum[r][v]);
      }
      a += stride;
#pragma GCC unroll 12
      for (int r = 0; r < Rows; r += 3) ++rows[r / 3];
    }
    if (adds) {
#pragma GCC unroll 12
      for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v) sum[r][v] = sum[r][v] + V::load(c + r * ldc + v * lanes);
    }
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v) sum[r][v].store(c + r * ldc + v * lanes);
  }

  template <int Vectors, bool Together, int Rows = most_rows>
  static PINION_VECTOR void tile_of(int rows, const float* a, std::int64_t stride, const float* next, const float* b,
                                    std::int64_t ldb, float* c, std::int64_t ldc, std::int64_t k, bool adds) {
    if (rows == Rows) return tile<Rows, Vectors, Together>(a, stride, next, b, ldb, c, ldc, k, adds);
    if constexpr (Rows > 1) tile_of<Vectors, Together, Rows - 1>(rows, a, stride, next, b, ldb, c, ldc, k, adds);
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

  // Copies k rows of B, from `from` on, of the columns of a panel, to [k][width].
  static PINION_VECTOR void pack(const pinion::op::product<float>& p, std::int64_t j, std::int64_t columns,
                                 std::int64_t from, std::int64_t k, float* to) {
    const std::int64_t end = from + k;
    std::int64_t x = from;
    for (; p.transpose_b && x + lanes <= end; x += lanes, to += lanes * width)
      for (std::int64_t half = 0; half < columns; half += lanes) {
        V square[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) square[i] = V::load(p.b + (j + half + i) * p.ldb + x);
        exchange<lanes / 2>(square, std::make_integer_sequence<int, lanes>{});
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) square[i].store(to + i * width + half);
      }
    for (; x < end; ++x, to += width) {
      if (p.transpose_b) {
        for (std::int64_t i = 0; i < columns; ++i) to[i] = p.b[(j + i) * p.ldb + x];
      } else {
        for (std::int64_t i = 0; i < columns; i += lanes) V::load(p.b + x * p.ldb + j + i).store(to + i);
      }
    }
  }

  // Copies rows of A, which is stored transposed, of a block of the inner dimension, to [k][most_rows].
  static PINION_VECTOR void pack_rows(const float* a, std::int64_t lda, std::int64_t rows, std::int64_t k, float* to) {
    for (std::int64_t x = 0; x < k; ++x, a += lda, to += most_rows)
      if (rows == most_rows)
        __builtin_memcpy(to, a, most_rows * sizeof(float));
      else
        for (std::int64_t r = 0; r < rows; ++r) to[r] = a[r];
  }

  // Asks for a part of n floats that will be read later.
  static PINION_VECTOR void ask_for(const float* a, std::int64_t n, std::int64_t part, std::int64_t parts) {
    for (std::int64_t at = n * part / parts; at < n * (part + 1) / parts; at += line) __builtin_prefetch(a + at, 0, 2);
  }

  // Asks for what is read behind the next tile, whose first row is `i`.
  static PINION_VECTOR void ask_for_next(const pinion::op::product<float>& p, const product_end& end, std::int64_t i,
                                         std::int64_t j, std::int64_t columns) {
    for (std::int64_t row = i; row < std::min(i + most_rows, p.m); ++row)
      for (const float* const wanted : end.wants)
        if (wanted)
          for (std::int64_t c = j; c < j + columns; c += lanes) __builtin_prefetch(wanted + row * p.ldc + c, 1);
  }

  // The part of a panel of C that a block [from, from + k) of the inner dimension makes.
  template <int Vectors, bool Together>
  static PINION_VECTOR void panel(const pinion::op::product<float>& p, std::int64_t j, std::int64_t from,
                                  std::int64_t k, product_room room, product_end end) {
    const float* b = p.b + from * p.ldb + j;
    std::int64_t ldb = p.ldb;
    if (room.b) {
      pack(p, j, Vectors * lanes, from, k, room.b);
      b = room.b, ldb = width;
    }
    const float* const a = Together ? p.a + from * p.lda : p.a + from;
    const std::int64_t step = Together ? 1 : p.lda, panels = (p.n + width - 1) / width;
    for (std::int64_t t = 0; t < tiles(p.m); ++t) {
      const std::int64_t i = first_row(p.m, t), until = first_row(p.m, t + 1);
      const float *rows = a + i * step, *next = j == 0 && until < p.m ? a + until * step : nullptr;
      std::int64_t lda = p.lda;
      const std::int64_t part = j / width * tiles(p.m) + t, parts = panels * tiles(p.m);
      if (room.a) {
        float* const copy = room.a + t * most_rows * k;
        if (j == 0) pack_rows(rows, p.lda, until - i, k, copy);
        ask_for(a + k * p.lda, std::min(k, p.k - from - k) * p.lda, part, parts);
        rows = copy, next = nullptr, lda = most_rows;
      }
      if (from == 0) ask_for(end.soon, end.soon_count, part, parts);
      if (end.wants[0] && from + k == p.k) ask_for_next(p, end, until, j, Vectors * lanes);
      float* const c = room.c ? room.c : p.c + i * p.ldc + j;
      const std::int64_t ldc = room.c ? width : p.ldc;
      tile_of<Vectors, Together>(static_cast<int>(until - i), rows, lda, next, b, ldb, c, ldc, k, from > 0);
      if (end.run && from + k == p.k) end.run(end.with, {i, until - i, j, Vectors * lanes, c, ldc});
    }
  }
};

template <bool Together>
struct tiled_product {
  template <class Isa>
  static PINION_INLINE void run(const pinion::op::product<float>* of, std::int64_t blocks, product_room room,
                                product_end end) {
    using T = product_tiles<Isa>;
    const auto& p = *of;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t from = p.k * block / blocks, k = p.k * (block + 1) / blocks - from;
      std::int64_t j = 0;
      for (; j + T::width <= p.n; j += T::width) T::template panel<2, Together>(p, j, from, k, room, end);
      if (j < p.n) T::template panel<1, Together>(p, j, from, k, room, end);
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

// The product, and what is done with each part of it. Requires: n is a multiple of 16, that is, of every vector.
inline void multiply(const pinion::op::product<float>& p, product_end end = {}) {
  constexpr std::int64_t many_rows = 128, widest = 32, many = 1 << 17;
  const bool packs_a = p.transpose_a && p.n > widest && p.m * p.k > many, packs_b = p.transpose_b || p.m >= many_rows;
  // A part of C that is consumed need not be read again, so that longer blocks pay.
  const std::int64_t most_inner = packs_a ? 128 : (end.consumes ? 512 : 256);
  const std::int64_t blocks = (p.k + most_inner - 1) / most_inner;
  static thread_local line_buffer rows, panel, tile;
  const product_room room{packs_a ? rows.of(2 * p.m * most_inner) : nullptr,
                          packs_b ? panel.of(widest * most_inner) : nullptr,
                          end.consumes && blocks == 1 ? tile.of(widest * 16) : nullptr};
  if (p.transpose_a)
    ps::dispatch<tiled_product<true>>(&p, blocks, room, end);
  else
    ps::dispatch<tiled_product<false>>(&p, blocks, room, end);
}

}  // namespace ideal
