// IDX files: the examples, every element type, gzip, damage, and the real MNIST.
#include "folder.hpp"

#include <pinion/files/idx.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>

#if PINION_HAS_ZLIB
#include <zlib.h>
#endif

namespace {

namespace pn = pinion;
namespace files = pinion::files;

const std::string six = from_hex("00 00 08 02 00 00 00 02 00 00 00 03 00 01 02 fd fe ff");

pn::any_tensor read(const std::string& bytes) {
  const folder dir;
  return files::read_idx(dir.write("f", bytes));
}
std::string reading(const std::string& bytes) {
  const folder dir;
  dir.write("f", bytes);
  return outcome_in(dir, [&] { files::read_idx(dir / "f"); });
}

}  // namespace

TEST_CASE("an IDX file is a tensor of its shape") {
  CHECK(read(six) == any<std::uint8_t>({{0, 1, 2}, {253, 254, 255}}));
  CHECK(read(from_hex("00 00 08 01 00 00 00 03 07 02 01")) == any<std::uint8_t>({7, 2, 1}));
  CHECK(read(from_hex("00 00 08 02 00 00 00 00 00 00 00 03")).shape() == pn::shape{0, 3});
}

TEST_CASE("elements are big-endian, and keep their dtype") {
  CHECK(read(from_hex("00 00 0d 01 00 00 00 01 3f 80 00 00")) == any<float>({1}));
  CHECK(read(from_hex("00 00 0e 01 00 00 00 01 3f f0 00 00 00 00 00 00")) == any<double>({1}));
  CHECK(read(from_hex("00 00 0c 01 00 00 00 01 ff ff ff fe")) == any<int>({-2}));
  CHECK(read(from_hex("00 00 0b 01 00 00 00 02 ff fe 01 00")) == any<std::int16_t>({-2, 256}));
  CHECK(read(from_hex("00 00 09 01 00 00 00 02 ff 7f")) == any<std::int8_t>({-1, 127}));
}

TEST_CASE("what is no IDX file, or damaged, is data loss with the reason") {
  CHECK(reading("") == "data_loss: f is cut short: 0 bytes do not hold its header");
  CHECK(reading(six.substr(0, 11)) == "data_loss: f is cut short: 11 bytes do not hold its header");
  for (const std::string other :
       {"01 00 08 01", "00 01 08 01", "00 00 0a 01", "00 00 00 01", "00 00 08 00", "00 00 08 09"})
    CHECK(reading(from_hex(other + "00 00 00 00")) == "data_loss: f is no IDX file of 1 to 8 dimensions");
  CHECK(reading(six.substr(0, 17)) == "data_loss: f is cut short: it announces more items than the 5 it has");
  CHECK(reading(six + "abc") == "data_loss: f has 3 bytes more than it announces");
  CHECK(reading(six + std::string(100'000, 'x')) == "data_loss: f has 65536 or more bytes more than it announces");
  CHECK(reading(from_hex("00 00 0e 08" + [] {
          std::string s;
          for (int i = 0; i < 8; ++i) s += " ff ff ff ff";
          return s;
        }() + "00")) == "data_loss: f is cut short: it announces more items than the 0 it has");
  CHECK(failure([] { files::read_idx("/no/such/file"); }) ==
        "not_found: cannot open /no/such/file: No such file or directory");
}

TEST_CASE("a changed or missing byte of an IDX file crashes nothing") {
  for (std::size_t i = 0; i < six.size(); ++i) {
    CHECK(caught([&] { read(six.substr(0, i)); }).code() == pn::errc::data_loss);
    for (int value = 0; value < 256; value += 5) {
      std::string bytes = six;
      bytes[i] = static_cast<char>(value);
      reading(bytes);
    }
  }
}

#if PINION_HAS_ZLIB
namespace {

std::string packed(const std::string& bytes) {
  const folder dir;
  const gzFile file = gzopen((dir / "f").c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return bytes_of(dir / "f");
}

}  // namespace

TEST_CASE("a compressed IDX file is known by its content, whatever its name") {
  CHECK(read(packed(six)) == any<std::uint8_t>({{0, 1, 2}, {253, 254, 255}}));
}

TEST_CASE("a compressed file that is cut short, changed or too long is data loss") {
  using Catch::StartsWith;
  const std::string good = packed(six);
  CHECK_THAT(reading(good.substr(0, good.size() - 9)), StartsWith("data_loss: f is damaged or cut short: "));
  std::string bad = good;
  bad[bad.size() - 6] ^= 1;
  CHECK_THAT(reading(bad), StartsWith("data_loss: f is damaged or cut short: "));
  CHECK(reading(packed(six + "ab")) == "data_loss: f has 2 bytes more than it announces");
  CHECK(reading(packed(six.substr(0, 17))) == "data_loss: f is cut short: it announces more items than the 5 it has");
}

TEST_CASE("a small file that unpacks to far more than it announces is left early") {
  CHECK(reading(packed(six + std::string(50'000'000, '\0'))) ==
        "data_loss: f has 65536 or more bytes more than it announces");
}
#else
TEST_CASE("without zlib a compressed file is refused with the package to install") {
  CHECK_THAT(reading(from_hex("1f 8b 08 00")),
             Catch::StartsWith("unimplemented: f is compressed by gzip") && Catch::Contains("zlib1g-dev"));
}
#endif

TEST_CASE("the real MNIST files, where PINION_MNIST_DIR names them, are whole") {
  const char* dir = std::getenv("PINION_MNIST_DIR");
  if (dir == nullptr || !PINION_HAS_ZLIB) return;
  const std::filesystem::path from = dir;
  const auto images = files::read_idx(from / "train-images-idx3-ubyte.gz");
  const auto labels = files::read_idx(from / "train-labels-idx1-ubyte.gz");
  CHECK(images.shape() == pn::shape{60000, 28, 28});
  CHECK(images.dtype() == pn::dtype::uint8);
  REQUIRE(labels.shape() == pn::shape{60000});
  CHECK(std::vector<int>(labels.data<std::uint8_t>(), labels.data<std::uint8_t>() + 6) ==
        std::vector<int>{5, 0, 4, 1, 9, 2});
}
