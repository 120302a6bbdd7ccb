// CRC-32C (Castagnoli), and the masked form in which records of event files carry it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinion::inline v0 {

namespace detail {
inline constexpr auto crc32c_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0x82F63B78u : 0u);
    table[i] = c;
  }
  return table;
}();
}  // namespace detail

// Source: RFC 3720, appendix B.4.
constexpr std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t c = 0xFFFFFFFFu;
  for (const std::byte b : bytes) c = c >> 8 ^ detail::crc32c_table[(c ^ static_cast<std::uint32_t>(b)) & 0xFF];
  return ~c;
}

// A CRC of bytes that hold CRCs themselves is a weak one, hence the mask. Source: TensorFlow's TFRecord format.
constexpr std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u;
}

}  // namespace pinion::inline v0
