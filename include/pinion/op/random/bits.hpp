// The bits of random elements: which blocks of Philox they are made of. Hosts and GPUs share it, and nothing here knows
// the rest of pinion.
//
// One block of 128 bits makes four elements of four bytes, or two of eight. A block's counter consists of its number
// (56 bits), the number of the draw (8 bits, since an element may be drawn again), and the number of the execution.
#pragma once

#include <cstdint>

#include <pinion/op/random/philox.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

template <class T>
inline constexpr int per_block = 16 / sizeof(T);

// The stream of random bits for one execution of one op.
struct random_stream {
  std::uint64_t seed, execution;

  constexpr philox_words bits(std::int64_t block, std::uint32_t draw) const {
    const auto b = static_cast<std::uint64_t>(block);
    return philox({low(b), low(b >> 32) ^ draw << 24, low(execution), low(execution >> 32)},
                  {low(seed), low(seed >> 32)});
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
};

// Word i of a block, as wide as T.
template <class T>
constexpr std::uint64_t word(const philox_words& bits, int i) {
  if constexpr (sizeof(T) == 4)
    return bits[static_cast<std::size_t>(i)];
  else
    return std::uint64_t{bits[static_cast<std::size_t>(2 * i)]} << 32 | bits[static_cast<std::size_t>(2 * i + 1)];
}

// A number in [0, 1): a multiple of 2^-24 for float, of 2^-53 for double.
template <class T>
constexpr T unit_interval(std::uint64_t random_word) {
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(random_word >> 8) * T(0x1p-24);
  else
    return static_cast<T>(random_word >> 11) * T(0x1p-53);
}

// A number in [0, 1) from all bits of a word, since the tail of a normal number follows from the lowest ones.
template <class T>
constexpr double unit_of_all_bits(std::uint64_t random_word) {
  return static_cast<double>(random_word) * (sizeof(T) == 4 ? 0x1p-32 : 0x1p-64);
}

}}}}  // namespace pinion::v0::op::detail
