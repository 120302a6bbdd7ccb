// CRC-32C against the values of RFC 3720 and of TensorBoard, and what is UTF-8.
#include <pinion/base/crc32c.hpp>
#include <pinion/base/utf8.hpp>

#include <catch2/catch.hpp>

#include <string>

namespace {

using namespace pinion;

struct crcs {
  std::uint32_t plain, masked;
  friend bool operator==(const crcs&, const crcs&) = default;
};
crcs of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {crc32c(bytes), masked_crc32c(bytes)};
}

TEST_CASE("CRC-32C and its masked form are those of other programs") {
  std::string up, down;
  for (char c = 0; c < 32; ++c) up += c, down.insert(0, 1, c);
  CHECK(of("") == crcs{0x00000000, 0xa282ead8});
  CHECK(of("123456789") == crcs{0xe3069283, 0xc78ab0e5});
  CHECK(of(std::string(32, '\0')) == crcs{0x8a9136aa, 0x0fd7fffa});
  CHECK(of(std::string(32, '\xff')) == crcs{0x62a8ab43, 0xf909b029});
  CHECK(of(up) == crcs{0x46dd794e, 0x951f7892});
  CHECK(of(down) == crcs{0x113fdb5c, 0x593b0d57});
  CHECK(of("\x1a\x11" "CRC test, one two") == crcs{0xf2d95a88, 0x5794d08a});
  CHECK(of(std::string("\x18\0\0\0\0\0\0\0", 8)).masked == 0x224b7fa3);
}

constexpr std::byte nine[] = {std::byte{'1'}, std::byte{'2'}};
static_assert(crc32c(nine) != 0);

static_assert(is_utf8(""));
static_assert(is_utf8("loss/train"));
static_assert(is_utf8("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbf \xf4\x8f\xbf\xbf"));
static_assert(!is_utf8("\xff"));
static_assert(!is_utf8("\x80"), "a continuation alone");
static_assert(!is_utf8("a\xc3"), "cut off");
static_assert(!is_utf8("\xe2\x82"), "cut off");
static_assert(!is_utf8("\xf0\x9f\x98z"), "cut off");
static_assert(!is_utf8("\xc0\xaf"), "overlong");
static_assert(!is_utf8("\xc1\xbf"), "overlong");
static_assert(!is_utf8("\xe0\x9f\xbf"), "overlong");
static_assert(!is_utf8("\xf0\x8f\xbf\xbf"), "overlong");
static_assert(!is_utf8("\xed\xa0\x80"), "a surrogate");
static_assert(!is_utf8("\xf4\x90\x80\x80"), "beyond U+10FFFF");
static_assert(!is_utf8("\xf5\x80\x80\x80"), "beyond U+10FFFF");

}  // namespace
