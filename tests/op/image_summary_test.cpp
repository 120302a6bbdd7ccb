// Image summaries: the PNG files are taken apart by hand, and their checksums computed bit by bit.
#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/kernel_bench.hpp>
#include <support/wire_message.hpp>

#if PINION_HAS_ZLIB
#include <zlib.h>
#endif

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion;
using kernel_bench::of;

std::vector<wire_message> images_of(const any_tensor& x, std::int64_t most = 3) {
  const any_tensor y = kernel_bench::run("ImageSummary", {x}, {{"tag", std::string("t")}, {"max_images", most}})[0];
  const wire_message m(*y.data<std::string>());
  std::vector<wire_message> values;
  for (std::size_t i = 0; i < m.count(1); ++i) values.push_back(m.sub(1, i));
  return values;
}

std::uint32_t big_endian(const std::string& s, std::size_t at) {
  std::uint32_t x = 0;
  for (std::size_t i = 0; i < 4; ++i) x = x << 8 | static_cast<unsigned char>(s.at(at + i));
  return x;
}
std::uint32_t plain_crc(const std::string& s) {
  std::uint32_t c = ~0u;
  for (unsigned char b : s) {
    c ^= b;
    for (int i = 0; i < 8; ++i) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
  }
  return ~c;
}

struct chunk {
  std::string type, data;
};
std::vector<chunk> chunks_of(const std::string& png) {
  REQUIRE(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  std::vector<chunk> all;
  for (std::size_t at = 8; at < png.size();) {
    const std::uint32_t n = big_endian(png, at);
    all.push_back({png.substr(at + 4, 4), png.substr(at + 8, n)});
    CHECK(big_endian(png, at + 8 + n) == plain_crc(all.back().type + all.back().data));
    at += 12 + n;
  }
  return all;
}

#if PINION_HAS_ZLIB
std::string inflated(const std::string& stream) {
  std::string out(1 << 20, '\0');
  uLongf n = out.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(out.data()), &n, reinterpret_cast<const Bytef*>(stream.data()),
                     stream.size()) == Z_OK);
  return out.substr(0, n);
}
#else
// The bytes of a stream of stored blocks.
std::string inflated(const std::string& stream) {
  CHECK((static_cast<unsigned char>(stream[0]) * 256 + static_cast<unsigned char>(stream[1])) % 31 == 0);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(stream.at(i))); };
  std::string out;
  std::size_t at = 2;
  for (bool last = false; !last;) {
    last = byte(at) == 1;
    const std::uint32_t n = byte(at + 1) | byte(at + 2) << 8, inverse = byte(at + 3) | byte(at + 4) << 8;
    CHECK((n ^ inverse) == 0xFFFF);
    out += stream.substr(at + 5, n);
    at += 5 + n;
  }
  std::uint32_t a = 1, b = 0;
  for (unsigned char c : out) a = (a + c) % 65521, b = (b + a) % 65521;
  CHECK(big_endian(stream, at) == (b << 16 | a));
  CHECK(at + 4 == stream.size());
  return out;
}
#endif

std::string pixels_of(const wire_message& value) {
  const auto image = value.sub(4);
  const auto chunks = chunks_of(image.text(4));
  const auto width = static_cast<std::size_t>(image.integer(2)),
             row = width * static_cast<std::size_t>(image.integer(3));
  const std::string rows = inflated(chunks.at(1).data);
  std::string pixels;
  for (std::size_t at = 0; at < rows.size(); at += row + 1) {
    CHECK(rows[at] == 0);
    pixels += rows.substr(at + 1, row);
  }
  return pixels;
}

TEST_CASE("the pixels of an image are its levels, over several blocks where they are many") {
  any_tensor x(dtype::uint8, {1, 200, 150, 3});
  for (std::int64_t i = 0; i < x.count(); ++i) x.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * i % 251);
  CHECK(pixels_of(images_of(x)[0]) == std::string(static_cast<const char*>(x.raw()), x.bytes()));
}

TEST_CASE("floats in [0, 1] are levels, those outside count as the ends, and no number is red") {
  const auto grey = images_of(of<float>({1, 1, 7, 1}, {0, 1, .5f, -3, 7, NAN, INFINITY}))[0];
  CHECK(pixels_of(grey) == std::string("\x00\xff\x80\x00\xff\xff\xff", 7));
  const auto colours = images_of(of<double>({1, 2, 1, 4}, {0, .2, NAN, .5, 1, 1, 0, .5}))[0];
  CHECK(pixels_of(colours) == std::string("\xff\x00\x00\xff\xff\xff\x00\x80", 8));
}

TEST_CASE("an image is written with its size and kind, once in the message and once in the file") {
  for (const auto& [channels, kind] : std::vector<std::pair<std::int64_t, int>>{{1, 0}, {3, 2}, {4, 6}}) {
    const auto value = images_of(any_tensor(dtype::uint8, {1, 5, 7, channels}))[0];
    CHECK(value.sub(4).integer(1) == 5);
    CHECK(value.sub(4).integer(2) == 7);
    CHECK(value.sub(4).integer(3) == channels);
    const auto chunks = chunks_of(value.sub(4).text(4));
    REQUIRE(chunks.size() == 3);
    CHECK(chunks[0].type + chunks[1].type + chunks[2].type == "IHDRIDATIEND");
    CHECK(big_endian(chunks[0].data, 0) == 7);
    CHECK(big_endian(chunks[0].data, 4) == 5);
    CHECK(chunks[0].data.substr(8) == std::string{8, static_cast<char>(kind), 0, 0, 0});
  }
}

TEST_CASE("of a batch the first images are shown, and tagged by number unless one alone may be") {
  const auto tags = [](std::int64_t images, std::int64_t most) {
    std::string all;
    for (const auto& v : images_of(any_tensor(dtype::uint8, {images, 1, 1, 1}), most)) all += v.text(1) + " ";
    return all;
  };
  CHECK(tags(5, 3) == "t/image/0 t/image/1 t/image/2 ");
  CHECK(tags(1, 3) == "t/image/0 ");
  CHECK(tags(5, 1) == "t/image ");
  CHECK(tags(0, 3) == "");
}

TEST_CASE("images without pixels, and tensors that turn out to be none, are refused") {
  CHECK(failure([] {
          images_of(any_tensor(dtype::uint8, {1, 0, 3, 1}));
        }) == "invalid_argument: an image without pixels");
  kernel_bench::graph g;
  const output y = g.add("ImageSummary", {g.feed_unknown(of<float>({2, 2, 2, 2}, std::vector<float>(16)))},
                         {{"tag", std::string("t")}, {"max_images", std::int64_t{3}}});
  CHECK(failure([&] { g.value(y); }) ==
        "invalid_argument: a tensor of shape [2, 2, 2, 2] is taken for images [n, height, width, channels] of 1, 3 or "
        "4 channels");
}

}  // namespace
#endif
