// CRC-32C (Castagnoli), plain and masked. Source: RFC 3720, appendix B.4; the mask is TFRecord's.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace files {

namespace detail {

// The tables for eight bytes at a time: row k holds the remainder of a byte that k zero bytes follow.
inline constexpr auto crc32c_table = [] {
  std::array<std::array<std::uint32_t, 256>, 8> t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t r = i;
    for (int bit = 0; bit < 8; ++bit) r = r >> 1 ^ (r & 1 ? 0x82f63b78u : 0u);
    t[0][i] = r;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 255];
  return t;
}();

// Eight bytes as a little-endian number, the order of everything stored here.
std::uint64_t eight_bytes(const unsigned char* p);

// The checksum's state after some bytes, by table lookup.
std::uint32_t crc32c_by_table(std::uint32_t state, const unsigned char* p, std::size_t bytes);

#if defined(__x86_64__)
// The checksum's state after some bytes, by the instruction of SSE 4.2.
[[gnu::target("sse4.2")]] std::uint32_t crc32c_by_instruction(std::uint32_t state, const unsigned char* p,
                                                              std::size_t bytes);
#endif

// The checksum's state after some bytes, by the instruction if the processor has it.
std::uint32_t crc32c_update(std::uint32_t state, const unsigned char* p, std::size_t bytes);

}  // namespace detail

// The CRC-32C of some bytes. With `so_far`, the checksum of earlier bytes, it is that of those and these together.
//
//   crc32c("123456789")                          // 0xe3069283, the check value of the standard
inline std::uint32_t crc32c(const void* from, std::size_t bytes, std::uint32_t so_far = 0) {
  return ~detail::crc32c_update(~so_far, static_cast<const unsigned char*>(from), bytes);
}
inline std::uint32_t crc32c(std::string_view text, std::uint32_t so_far = 0) {
  return crc32c(text.data(), text.size(), so_far);
}

// The masked form of a checksum, so that one stored beside its bytes does not weaken a checksum over both.
constexpr std::uint32_t masked(std::uint32_t crc) {
  return std::rotr(crc, 15) + 0xa282ead8u;
}
// The checksum of a masked form.
constexpr std::uint32_t unmasked(std::uint32_t masked_crc) {
  return std::rotl(masked_crc - 0xa282ead8u, 15);
}

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/crc32c.ipp>
#endif
