// Pictures as PNG files. Source: RFC 2083; RFC 1950 and 1951 for the compressed stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinion/base/error.hpp>
#include <pinion/files/config.hpp>

#if PINION_HAS_ZLIB
#include <zlib.h>
#endif

namespace pinion { inline namespace v0 { namespace op {

// A picture: rows of pixels of 1 (grey), 3 (RGB) or 4 (RGBA) channels.
struct picture {
  std::uint32_t width = 0, height = 0;
  int channels = 1;
  std::string pixels;
};

namespace detail {

inline constexpr auto crc32_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0u);
    table[i] = c;
  }
  return table;
}();

constexpr std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t c = 0xFFFFFFFFu;
  for (const char b : bytes) c = c >> 8 ^ crc32_table[(c ^ static_cast<unsigned char>(b)) & 0xFF];
  return ~c;
}

constexpr std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

inline void append_big_endian(std::string& to, std::uint32_t x) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(x >> shift & 0xFF);
}

inline void append_chunk(std::string& to, std::string_view type, std::string_view data) {
  append_big_endian(to, static_cast<std::uint32_t>(data.size()));
  const std::size_t first = to.size();
  to.append(type).append(data);
  append_big_endian(to, crc32(std::string_view(to).substr(first)));
}

// A zlib stream of uncompressed blocks, which needs five bytes more for each 65535.
inline std::string stored(std::string_view data) {
  std::string stream = "\x78\x01";
  const std::uint32_t sum = adler32(data);
  do {
    const std::size_t n = std::min<std::size_t>(data.size(), 65535);
    stream += static_cast<char>(n == data.size());
    for (const std::size_t length : {n, ~n})
      stream.append({static_cast<char>(length & 0xFF), static_cast<char>(length >> 8 & 0xFF)});
    stream.append(data.substr(0, n));
    data.remove_prefix(n);
  } while (!data.empty());
  append_big_endian(stream, sum);
  return stream;
}

inline std::string deflated(const std::string& data) {
#if PINION_HAS_ZLIB
  uLongf size = compressBound(data.size());
  std::string stream(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                data.size(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw error(errc::resource_exhausted,
                "zlib could not compress an image of " + std::to_string(data.size()) + " bytes");
  stream.resize(size);
  return stream;
#else
  return stored(data);
#endif
}

}  // namespace detail

// The file of a picture; in a build without zlib it is as large as the pixels. Throws invalid_argument for a picture
// without pixels, or with more than a gigabyte of them.
inline std::string encode_png(const picture& p) {
  const std::uint64_t row = std::uint64_t{p.width} * static_cast<std::uint64_t>(p.channels);
  if (p.width == 0 || p.height == 0) throw error(errc::invalid_argument, "an image without pixels");
  if (row > (1u << 30) || (row + 1) * p.height > (1u << 30))
    throw error(errc::invalid_argument, "an image of " + std::to_string(p.width) + " x " + std::to_string(p.height) +
                                            " pixels is more than a summary holds");
  std::string rows;
  rows.reserve((row + 1) * p.height);
  for (std::uint64_t y = 0; y < p.height; ++y) {
    rows += '\0';  // no filter
    rows.append(p.pixels, y * row, row);
  }
  std::string header;
  detail::append_big_endian(header, p.width);
  detail::append_big_endian(header, p.height);
  header += '\x08';
  header += static_cast<char>(p.channels == 1 ? 0 : p.channels == 3 ? 2 : 6);
  header.append(3, '\0');
  std::string file = "\x89PNG\r\n\x1a\n";
  detail::append_chunk(file, "IHDR", header);
  detail::append_chunk(file, "IDAT", detail::deflated(rows));
  detail::append_chunk(file, "IEND", "");
  return file;
}

}}}  // namespace pinion::v0::op
