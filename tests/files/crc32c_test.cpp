// CRC-32C: published values, both ways to compute it, pieces.
#include <pinion/files/crc32c.hpp>

#include <catch2/catch.hpp>

#include <numeric>

namespace {

namespace files = pinion::files;

std::string counting(unsigned char first, int step) {
  std::string s;
  for (int i = 0; i < 32; ++i) s += static_cast<char>(first + step * i);
  return s;
}

}  // namespace

TEST_CASE("the CRC-32C of known texts is the published one, masked and not") {
  const std::string sentence =
      "\x1a\x11"
      "CRC test, one two";
  const std::tuple<std::string, std::uint32_t, std::uint32_t> known[] = {
      {"", 0x00000000, 0xa282ead8},
      {"123456789", 0xe3069283, 0xc78ab0e5},
      {std::string(32, '\0'), 0x8a9136aa, 0x0fd7fffa},
      {std::string(32, '\xff'), 0x62a8ab43, 0xf909b029},
      {counting(0, 1), 0x46dd794e, 0x951f7892},
      {counting(31, -1), 0x113fdb5c, 0x593b0d57},
      {sentence, 0xf2d95a88, 0x5794d08a},
  };
  for (const auto& [text, crc, mask] : known) {
    CHECK(files::crc32c(text) == crc);
    CHECK(files::masked(crc) == mask);
    CHECK(files::unmasked(mask) == crc);
  }
  CHECK(files::masked(files::crc32c(std::string("\x18\0\0\0\0\0\0\0", 8))) == 0x224b7fa3);
}

TEST_CASE("the table and the instruction agree at every length and alignment, and pieces make the whole") {
  std::vector<unsigned char> bytes(300);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(7));
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t n = 0; n < 80; ++n) {
      const std::uint32_t table = ~files::detail::crc32c_by_table(~0u, bytes.data() + from, n);
      REQUIRE(files::crc32c(bytes.data() + from, n) == table);
      REQUIRE(files::crc32c(bytes.data() + from + n / 3, n - n / 3, files::crc32c(bytes.data() + from, n / 3)) ==
              table);
    }
  }
}
