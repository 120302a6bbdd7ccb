// Bodies of <pinion/files/crc32c.hpp>.
#pragma once

#include <cstring>

#include <pinion/files/crc32c.hpp>

namespace pinion { inline namespace v0 { namespace files { namespace detail {

PINION_DECL std::uint64_t eight_bytes(const unsigned char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

PINION_DECL std::uint32_t crc32c_by_table(std::uint32_t state, const unsigned char* p, std::size_t bytes) {
  const auto& t = crc32c_table;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    const std::uint64_t w = eight_bytes(p) ^ state;
    state = t[7][w & 255] ^ t[6][w >> 8 & 255] ^ t[5][w >> 16 & 255] ^ t[4][w >> 24 & 255] ^ t[3][w >> 32 & 255] ^
            t[2][w >> 40 & 255] ^ t[1][w >> 48 & 255] ^ t[0][w >> 56];
  }
  for (; bytes > 0; --bytes, ++p) state = state >> 8 ^ t[0][(state ^ *p) & 255];
  return state;
}

#if defined(__x86_64__)
PINION_DECL std::uint32_t crc32c_by_instruction(std::uint32_t state, const unsigned char* p, std::size_t bytes) {
  std::uint64_t wide = state;
  for (; bytes >= 8; bytes -= 8, p += 8) wide = __builtin_ia32_crc32di(wide, eight_bytes(p));
  state = static_cast<std::uint32_t>(wide);
  for (; bytes > 0; --bytes, ++p) state = __builtin_ia32_crc32qi(state, *p);
  return state;
}
#endif

PINION_DECL std::uint32_t crc32c_update(std::uint32_t state, const unsigned char* p, std::size_t bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return crc32c_by_instruction(state, p, bytes);
#endif
  return crc32c_by_table(state, p, bytes);
}

}}}}  // namespace pinion::v0::files::detail
