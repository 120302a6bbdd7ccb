// Records in TensorFlow's frame (TFRecord): length, CRC of the length, bytes, CRC of the bytes; all little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinion/files/crc32c.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The bytes in front of a record's payload, and behind it.
inline constexpr std::size_t record_head = 12, record_tail = 4;

namespace detail {

// Appends an integer, its lowest byte first.
template <class T>
void append_little_endian(std::string& to, T x) {
  for (std::size_t i = 0; i < sizeof x; ++i) to += static_cast<char>(x >> 8 * i & 0xFF);
}
// Reads an integer, its lowest byte first. Requires: there are that many bytes.
template <class T>
T little_endian(std::string_view from) {
  T x = 0;
  for (std::size_t i = 0; i < sizeof x; ++i) x |= static_cast<T>(T{static_cast<unsigned char>(from[i])} << 8 * i);
  return x;
}

}  // namespace detail

// The checksum of a record's part: CRC-32C in the masked form.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  return files::masked(files::crc32c(bytes));
}

// Appends a payload in its frame.
inline void append_record(std::string& to, std::string_view payload) {
  const std::size_t first = to.size();
  detail::append_little_endian(to, static_cast<std::uint64_t>(payload.size()));
  detail::append_little_endian(to, masked_crc32c(std::string_view(to).substr(first)));
  to.append(payload);
  detail::append_little_endian(to, masked_crc32c(payload));
}

}}}  // namespace pinion::v0::train
