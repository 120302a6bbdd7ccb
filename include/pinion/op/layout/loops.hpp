// The inner loops of transpose: tiles that are transposed in registers, squares of a cache line each way, and strips.
//
// A tile is transposed by rounds of zips, which put the elements of two vectors in alternation: row i of n rows is
// zipped with row i + n / 2, and after log2(n) rounds the rows have become columns. Every instruction set zips in parts
// of 16 bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <pinion/scalar/isa.hpp>
#include <pinion/scalar/native.hpp>

namespace pinion { inline namespace v0 { namespace loops {

namespace detail {

// The lane from which lane i of a zip comes, in the two vectors of N lanes, joined. Runs of `Unit` lanes are zipped
// within parts of `Part` lanes, of which the lower half or the upper half is taken.
template <int N, int Unit, int Part, bool Upper>
constexpr int zipped_lane(int i) {
  const int run = i % Part / Unit;
  return run % 2 * N + i / Part * Part + run / 2 * Unit + i % Unit + (Upper ? Part / 2 : 0);
}
template <int Unit, int Part, bool Upper, class V, int... Lane>
PINION_VECTOR V zip(const V& a, const V& b, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(a, b, zipped_lane<sizeof...(Lane), Unit, Part, Upper>(Lane)...);
}

// Transposes the matrix whose row i is vector i * Step, and whose elements are runs of `Unit` lanes. There is one such
// matrix of Count rows and columns in each part of a vector. (Indices are packs, since g++ -O2 would keep an array that
// a loop indexes in memory.)
template <int Unit, int Count, int Step, class V, int... Lane, int... Pair>
PINION_VECTOR void zip_rows(V* rows, std::integer_sequence<int, Lane...> lanes, std::integer_sequence<int, Pair...>) {
  const V low[] = {zip<Unit, Count * Unit, false>(rows[Pair * Step], rows[(Pair + Count / 2) * Step], lanes)...};
  const V high[] = {zip<Unit, Count * Unit, true>(rows[Pair * Step], rows[(Pair + Count / 2) * Step], lanes)...};
  ((rows[2 * Pair * Step] = low[Pair], rows[(2 * Pair + 1) * Step] = high[Pair]), ...);
}
template <int Lanes, int Unit, int Count, int Step, int Round = 1, class V>
PINION_VECTOR void transpose_runs(V* rows) {
  if constexpr (Round < Count) {
    zip_rows<Unit, Count, Step>(rows, std::make_integer_sequence<int, Lanes>{},
                                std::make_integer_sequence<int, Count / 2>{});
    transpose_runs<Lanes, Unit, Count, Step, 2 * Round>(rows);
  }
}

// Loads Parts runs of 16 bytes that are `apart` elements apart.
template <int Parts, class Word, int... Lane>
PINION_VECTOR auto load_parts(const Word* p, std::int64_t apart, std::integer_sequence<int, Lane...> lanes) {
  if constexpr (Parts == 1) {
    scalar::detail::vector<Word, sizeof...(Lane)> v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  } else {
    using half = std::make_integer_sequence<int, sizeof...(Lane) / 2>;
    const auto low = load_parts<Parts / 2>(p, apart, half{});
    const auto high = load_parts<Parts / 2>(p + Parts / 2 * apart, apart, half{});
    (void)lanes;
    return __builtin_shufflevector(low, high, Lane...);
  }
}

}  // namespace detail

// A tile of x, whose columns become rows of y. Both sides are as long as a vector, but a tile of bytes has 16 columns:
// a square of them would not fit into the registers.
template <class Word, class Isa>
struct transposed_tile {
  static constexpr int lanes = Isa::bytes / static_cast<int>(sizeof(Word));
  static constexpr int quad = 16 / static_cast<int>(sizeof(Word));  // lanes in 16 bytes
  static constexpr int quads = lanes / quad;
  static constexpr int rows = lanes, columns = sizeof(Word) == 1 ? quad : lanes;

  // Rows of x are `from` elements apart, rows of y are `to` elements apart.
  static PINION_VECTOR void run(const Word* x, std::int64_t from, Word* y, std::int64_t to) {
    run(x, from, y, to, std::make_integer_sequence<int, columns>{}, std::make_integer_sequence<int, quad>{},
        std::make_integer_sequence<int, quads>{});
  }

 private:
  using V = scalar::detail::vector<Word, lanes>;

  template <int... Column, int... InQuad, int... Quad>
  static PINION_VECTOR void run(const Word* x, std::int64_t from, Word* y, std::int64_t to,
                                std::integer_sequence<int, Column...>, std::integer_sequence<int, InQuad...>,
                                std::integer_sequence<int, Quad...>) {
    V v[columns];
    if constexpr (columns < rows) {
      ((v[Column] =
            detail::load_parts<quads>(x + Column * from, quad * from, std::make_integer_sequence<int, lanes>{})),
       ...);
      detail::transpose_runs<lanes, 1, quad, 1>(v + 0);
    } else {
      (__builtin_memcpy(&v[Column], x + Column * from, sizeof(V)), ...);
      (detail::transpose_runs<lanes, 1, quad, 1>(v + Quad * quad), ...);
      (detail::transpose_runs<lanes, quad, quads, quad>(v + InQuad), ...);
    }
    (__builtin_memcpy(y + Column * to, &v[Column], sizeof(V)), ...);
  }
};

// Transposes x of [rows, columns] in tiles, of which the last ones may overlap those before. Requires: x is not smaller
// than a tile in either direction.
template <class Tile, class Word>
PINION_VECTOR void transpose_in_tiles(const Word* x, std::int64_t from, Word* y, std::int64_t to, std::int64_t rows,
                                      std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; i += Tile::columns)
    for (std::int64_t j = 0; j < rows; j += Tile::rows) {
      const std::int64_t c = std::min(i, columns - Tile::columns), r = std::min(j, rows - Tile::rows);
      Tile::run(x + r * from + c, from, y + c * to + r, to);
    }
}

template <class Word>
PINION_VECTOR void transpose_each(const Word* x, std::int64_t from, Word* y, std::int64_t to, std::int64_t rows,
                                  std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i)
    for (std::int64_t j = 0; j < rows; ++j) y[i * to + j] = x[j * from + i];
}

// The elements of a cache line.
template <class Word>
inline constexpr std::int64_t line_of = 64 / static_cast<std::int64_t>(sizeof(Word));

// Prefetches a square of lines. There need be no memory at its addresses.
template <bool Write, class Word>
PINION_VECTOR void prefetch_lines(const Word* p, std::int64_t apart) {
  for (std::int64_t i = 0; i < line_of<Word>; ++i) __builtin_prefetch(p + i * apart, Write);
}

// Transposes a strip of x of [rows, columns], square by square, while the next squares come into the cache. Strips of
// two squares touch lines of y twice at most, and few lines of each side at a time: where rows are a power of two
// apart, these compete for a few places in the cache.
template <class Word>
struct transposed_strip {
  static constexpr std::int64_t height = 2 * line_of<Word>;  // of all strips of a plane but the last

  template <class Isa>
  static PINION_VECTOR void run(const Word* x, std::int64_t from, Word* y, std::int64_t to, std::int64_t rows,
                                std::int64_t columns) {
    using tile = transposed_tile<Word, Isa>;
    using small_tile = transposed_tile<Word, scalar::isa::baseline>;
    constexpr std::int64_t line = line_of<Word>;
    if (rows < small_tile::rows || columns < small_tile::columns) return transpose_each(x, from, y, to, rows, columns);
    if (rows < tile::rows || columns < tile::columns)
      return transpose_in_tiles<small_tile>(x, from, y, to, rows, columns);
    if (rows < line || columns < line) return transpose_in_tiles<tile>(x, from, y, to, rows, columns);
    for (std::int64_t i = 0; i < columns; i += line)
      for (std::int64_t j = 0; j < rows; j += line) {
        const std::int64_t c = std::min(i, columns - line), r = std::min(j, rows - line);
        prefetch_lines<false>(x + r * from + c + line, from);
        prefetch_lines<true>(y + (c + line) * to + r, to);
        transpose_in_tiles<tile>(x + r * from + c, from, y + c * to + r, to, line, line);
      }
  }
};

// A strip of which the lines of y are written past the cache: memory need not read them first, and y, which is larger
// than the cache, leaves in it what is there. Requires: y + to i is aligned to a line for all i, rows is a number of
// whole lines, and there are at least two lines of rows and of columns.
template <class Word>
struct streamed_strip {
  template <class Isa>
  static PINION_VECTOR void run(const Word* x, std::int64_t from, Word* y, std::int64_t to, std::int64_t rows,
                                std::int64_t columns) {
    using native = scalar::detail::native<Isa>;
    if constexpr (!native::has_stream) {
      transposed_strip<Word>::template run<Isa>(x, from, y, to, rows, columns);
    } else {
      constexpr std::int64_t side = 2 * line_of<Word>;
      alignas(64) Word square[side * side];
      for (std::int64_t i = 0; i < columns; i += side)
        for (std::int64_t j = 0; j < rows; j += side) {
          const std::int64_t c = std::min(i, columns - side), r = std::min(j, rows - side);
          for (std::int64_t line = 0; line < side; line += line_of<Word>) {
            prefetch_lines<false>(x + (r + line) * from + c + side, from);
            prefetch_lines<false>(x + (r + line) * from + c + side + line_of<Word>, from);
          }
          transpose_in_tiles<transposed_tile<Word, Isa>>(x + r * from + c, from, square, side, side, side);
          for (std::int64_t k = 0; k < side; ++k) stream_lines<Isa>(square + k * side, y + (c + k) * to + r);
        }
      native::fence();
    }
  }

 private:
  template <class Isa>
  static PINION_VECTOR void stream_lines(const Word* x, Word* y) {
    for (int at = 0; at < 128; at += Isa::bytes) {
      scalar::detail::vector<float, Isa::bytes / 4> v;
      __builtin_memcpy(&v, reinterpret_cast<const char*>(x) + at, sizeof v);
      scalar::detail::native<Isa>::stream(reinterpret_cast<float*>(reinterpret_cast<char*>(y) + at), v);
    }
  }
};

}}}  // namespace pinion::v0::loops
