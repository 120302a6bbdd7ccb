// Short rows of a broadcast, computed many at a time.
//
// A call of a kernel takes as long as dozens of elements, so a strip of one short row would take a multiple of the time
// of its arithmetic. Rows that follow each other become one strip instead. An operand that is contiguous over these
// rows is used where it is; any other one has a copy that is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/scalar/strip.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The plan of a walk's batches: how many rows one has, and how each operand takes part. Immutable.
struct row_batches {
  enum class walk : std::uint8_t {
    on,      // the operand's rows follow each other
    still,   // one element serves all rows
    again,   // one row serves all rows; a result is their sum
    by_row,  // one element serves each row; a result is the sum of the row
  };
  static constexpr std::size_t room = 16 << 10;  // bytes, for the copies of one batch

  std::int64_t rows = 1;             // of a batch at most; 1: each row is a strip of its own
  std::int64_t extent = 1;           // the rows for which the operands walk like this; no batch crosses their end
  std::vector<walk> walks;           // of all operands, where rows > 1
  std::vector<std::size_t> copy_at;  // the places of their copies in the room

  // Makes the plan. Inputs come first, then results; `sizes` are those of their elements.
  row_batches(const broadcast_walk& w, std::size_t inputs, const std::vector<std::size_t>& sizes) {
    const std::int64_t n = w.inner();
    if (w.extents.size() < 2 || n == 0 || n > longest_row) return;
    std::size_t copied = 0;  // the bytes of an element in all copies
    bool sums_rows = false;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const std::int64_t along = w.strides[k].back(), across = w.strides[k].end()[-2];
      if (along != 0 && across != 0 && across != n) return;
      walks.push_back(along != 0 ? (across != 0 ? walk::on : walk::again) : across != 0 ? walk::by_row : walk::still);
      if (has_copy(k)) copied += sizes[k];
      sums_rows |= k >= inputs && walks[k] == walk::again;
    }
    extent = w.extents.end()[-2];
    const auto space = static_cast<std::int64_t>((room - line * sizes.size()) / std::max<std::size_t>(1, copied));
    const std::int64_t most = sums_rows ? std::max<std::int64_t>(512, 4 * n) : 2048;
    rows = std::clamp<std::int64_t>(std::min(most, space) / n, 1, extent);
    const std::int64_t unit = scalar::widest / std::gcd(std::int64_t{scalar::widest}, n);
    if (rows > unit) rows -= rows % unit;  // whole vectors
    std::size_t at = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      copy_at.push_back(at);
      if (has_copy(k)) at += (static_cast<std::size_t>(rows * n) * sizes[k] + line - 1) / line * line;
    }
  }

  bool has_copy(std::size_t operand) const { return walks[operand] == walk::again || walks[operand] == walk::by_row; }

 private:
  static constexpr std::size_t line = 64;            // a cache line, in bytes
  static constexpr std::int64_t longest_row = 1024;  // in elements
};

namespace detail {

// Writes one row of some bytes `rows` times.
inline void repeat_row(std::byte* to, const std::byte* row, std::size_t bytes, std::size_t rows) {
  std::memcpy(to, row, bytes);
  for (std::size_t done = 1; done < rows; done *= 2)
    std::memcpy(to + done * bytes, to, std::min(done, rows - done) * bytes);
}

// Writes rows of n equal elements each. `step` is the distance of their values, in elements.
template <class Word>
void spread_words(std::byte* to, const std::byte* from, std::int64_t step, std::int64_t n, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    Word value;
    std::memcpy(&value, from + r * step * std::int64_t{sizeof(Word)}, sizeof value);
    for (std::int64_t i = 0; i < n; ++i, to += sizeof value) std::memcpy(to, &value, sizeof value);
  }
}
inline void spread_elements(std::byte* to, const std::byte* from, std::size_t size, std::int64_t step, std::int64_t n,
                            std::int64_t rows) {
  if (size == 1) return spread_words<std::uint8_t>(to, from, step, n, rows);
  if (size == 4) return spread_words<std::uint32_t>(to, from, step, n, rows);
  spread_words<std::uint64_t>(to, from, step, n, rows);
}

// Adds n elements to as many others.
template <class T>
void add_to(T* to, const T* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(to[i] + from[i]);
}
// Adds the sum of some rows to one row. The rows are folded by halves, in an order that depends on their number alone.
template <class T>
void add_rows(T* out, T* rows, std::int64_t n, std::int64_t count) {
  for (; count > 1; count -= count / 2) add_to(rows, rows + (count - count / 2) * n, count / 2 * n);
  add_to(out, rows, n);
}
// Adds the sum of each row to an element of its own.
template <class T>
void add_sums(T* out, std::int64_t step, const T* row, std::int64_t n, std::int64_t count) {
  for (std::int64_t r = 0; r < count; ++r, out += step, row += n) {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum = static_cast<T>(sum + row[i]);
    *out = static_cast<T>(*out + sum);
  }
}

}  // namespace detail

}}}  // namespace pinion::v0::op
