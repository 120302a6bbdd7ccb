// .npy: golden bytes, round trips, files as other versions of NumPy write them, refusals.
#include "folder.hpp"

#include <pinion/files/npy.hpp>

#include <catch2/catch.hpp>

namespace {

namespace pn = pinion;
namespace files = pinion::files;

const std::string golden = from_hex("93 4e 55 4d 50 59 01 00 76 00") +
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" + std::string(60, ' ') + "\n" +
                           from_hex("00 00 80 3f 00 00 00 c0");

std::string file(const std::string& header, const std::string& data, char major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += major;
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  if (major != 1) bytes += std::string(2, '\0');
  return bytes + header + data;
}
std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

std::string reading(const std::string& bytes) {
  const folder dir;
  dir.write("f", bytes);
  return outcome_in(dir, [&] { files::read_npy(dir / "f"); });
}
pn::any_tensor read(const std::string& bytes) {
  const folder dir;
  return files::read_npy(dir.write("f", bytes));
}

}  // namespace

TEST_CASE("an array is written to the byte as np.save writes it, and read back") {
  const folder dir;
  files::write_npy(dir / "a.npy", any<float>({1, -2}));
  CHECK(bytes_of(dir / "a.npy") == golden);
  CHECK(read(golden) == any<float>({1, -2}));
}

TEST_CASE("every dtype that NumPy has, and every shape, comes back as it was") {
  const folder dir;
  for (const auto type : {pn::dtype::float32, pn::dtype::float64, pn::dtype::int32, pn::dtype::int64, pn::dtype::uint8,
                          pn::dtype::boolean, pn::dtype::half, pn::dtype::int8, pn::dtype::int16, pn::dtype::uint16,
                          pn::dtype::uint32, pn::dtype::uint64}) {
    for (const pn::shape& extent :
         {pn::shape{}, pn::shape{3}, pn::shape{2, 3}, pn::shape{2, 0}, pn::shape{1, 2, 1, 2, 1, 2, 1, 2}}) {
      pn::any_tensor t(type, extent);
      for (std::size_t i = 0; i < t.bytes(); ++i)
        t.byte_data()[i] = static_cast<std::byte>(type == pn::dtype::boolean ? i % 2 : i);
      files::write_npy(dir / "a.npy", t);
      const auto back = files::read_npy(dir / "a.npy");
      CHECK(back.dtype() == type);
      CHECK(back.shape() == extent);
      CHECK(std::memcmp(back.raw(), t.raw(), t.bytes()) == 0);
      CHECK(std::filesystem::file_size(dir / "a.npy") % 64 == t.bytes() % 64);
    }
  }
}

TEST_CASE("headers of other versions and habits are read") {
  const std::string data = from_hex("00 00 80 3f 00 00 00 c0");
  const auto expected = any<float>({1, -2});
  CHECK(read(file(header("<f4", "(2,)"), data)) == expected);
  CHECK(read(file(header("<f4", "(2,)"), data, 2)) == expected);
  CHECK(read(file(header("<f4", "(2,)"), data, 3)) == expected);
  CHECK(read(file("{\"shape\": (2,), \"descr\": \"<f4\", \"fortran_order\": False}", data)) == expected);
  CHECK(read(file("{'descr':'<f4','fortran_order':False,'shape':( 2 , )}", data)) == expected);
  CHECK(read(file(header("<f4", "(2, 1)"), data)) == any<float>({{1}, {-2}}));
  CHECK(read(file(header("<f4", "(2,)"), data + "more")) == expected);
  CHECK(read(file(header("<f4", "()"), data)) == any<float>(1));
}

TEST_CASE("big-endian elements are turned, and each keeps its dtype") {
  CHECK(read(file(header(">f4", "(2,)"), from_hex("3f 80 00 00 c0 00 00 00"))) == any<float>({1, -2}));
  CHECK(read(file(header(">f8", "()"), from_hex("3f f0 00 00 00 00 00 00"))) == any<double>(1));
  CHECK(read(file(header(">i4", "()"), from_hex("ff ff ff fe"))) == any<int>(-2));
  CHECK(read(file(header("|i1", "(2,)"), from_hex("ff 7f"))) == any<std::int8_t>({-1, 127}));
  CHECK(read(file(header("<i2", "(2,)"), from_hex("fe ff 01 00"))) == any<std::int16_t>({-2, 1}));
  CHECK(read(file(header(">u2", "()"), from_hex("ff fe"))) == any<std::uint16_t>(65534));
  CHECK(read(file(header("<u4", "()"), from_hex("ff ff ff ff"))) == any<std::uint32_t>(4294967295));
  CHECK(read(file(header(">u8", "()"), from_hex("ff ff ff ff ff ff ff fe"))) == any<std::uint64_t>(UINT64_MAX - 1));
  CHECK(read(file(header(">f2", "()"), from_hex("3c 00"))) == any<pn::half>(1));
}

TEST_CASE("column-major arrays are turned to rows") {
  CHECK(read(file(header("<i4", "(2, 2)", "True"), from_hex("01000000 02000000 03000000 04000000"))) ==
        any<int>({{1, 3}, {2, 4}}));
  CHECK(read(file(header("|u1", "(2, 3, 2)", "True"), from_hex("00 01 02 03 04 05 06 07 08 09 0a 0b"))) ==
        any<std::uint8_t>({{{0, 6}, {2, 8}, {4, 10}}, {{1, 7}, {3, 9}, {5, 11}}}));
  CHECK(read(file(header("|u1", "(2, 0)", "True"), "")).shape() == pn::shape{2, 0});
}

TEST_CASE("what is no .npy file, or damaged, is data loss with the reason") {
  using Catch::StartsWith;
  CHECK(reading("") == "data_loss: f is no .npy file");
  CHECK(reading("PK\3\4 and what follows") == "data_loss: f is no .npy file");
  CHECK(reading(file(header("<f4", "(2,)"), "12345678", 4)) ==
        "data_loss: f is of version 4 of .npy; known are 1 to 3");
  CHECK(reading(file(std::string(10'001, ' '), "")) ==
        "data_loss: f has a header of 10001 bytes, where NumPy reads 10000 at most");
  CHECK(reading(golden.substr(0, 60)) == "data_loss: f is cut short within its header");
  CHECK(reading(golden.substr(0, 135)) == "data_loss: f is cut short: 7 bytes do not hold the shape [2]");
  CHECK(reading(file(header("<f4", "(99999999999, 99999999999)"), "")) ==
        "data_loss: f is cut short: 0 bytes do not hold the shape [99999999999, 99999999999]");
  CHECK(reading(file(header("<f4", "(2)"), "12345678")) == "data_loss: f has a shape that is no tuple");
  CHECK_THAT(reading(file(header("<f4", "[2]"), "12345678")),
             StartsWith("data_loss: f has a header that is no dict of Python: no '('"));
  CHECK(reading(file(header("<f4", "(-1,)"), "1234")) == "data_loss: f has a shape that is no tuple of numbers");
  CHECK(reading(file(header("<f4", "(2,)", "false"), "12345678")) ==
        "data_loss: f has a fortran_order that is neither True nor False");
  CHECK(reading(file("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}", "1234")) ==
        "data_loss: f has a key 'more' too many in its header");
  CHECK(reading(file("{'descr': '<f4', 'shape': ()}", "1234")) ==
        "data_loss: f has a header without descr, fortran_order and shape");
  CHECK(reading(file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "1234")) ==
        "data_loss: f has a key 'descr' too many in its header");
  CHECK(reading(file(header("<f4", "()") + "x", "1234")) == "data_loss: f has a header with something after its end");
  CHECK(reading(file(header("|b1", "()"), "\2")) == "data_loss: f has a boolean of 2");
}

TEST_CASE("elements that no dtype of pinion holds are unimplemented, by their name") {
  for (const std::string descr : {"|O", "|S5", "<U5", "<c8", "bfloat16", "<f16", "=f4", "<f3", "|f4", "", "|V2"})
    CHECK(reading(file(header(descr, "()"), std::string(16, '\0'))) ==
          "unimplemented: f holds elements of '" + descr +
              "'; pinion reads booleans, integers and floats (convert it with astype)");
  CHECK(reading(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "1234")) ==
        "unimplemented: f holds records; pinion reads arrays of plain numbers");
  CHECK(reading(file(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "1234")) ==
        "unimplemented: f has more than 8 dimensions, which is what a tensor of pinion has");
}

TEST_CASE("text and bfloat16 are not written") {
  const folder dir;
  CHECK(outcome_in(dir, [&] { files::write_npy(dir / "f", any<std::string>("x")); }) ==
        "invalid_argument: f cannot hold elements of string; cast them first");
  CHECK(dir.files() == 0);
}

TEST_CASE("a changed or missing byte of an .npy file crashes nothing") {
  const folder dir;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    CHECK(caught([&] { read(golden.substr(0, i)); }).code() == pn::errc::data_loss);
    for (int value = 0; value < 256; value += 3) {
      std::string bytes = golden;
      bytes[i] = static_cast<char>(value);
      dir.write("f", bytes);
      try {
        files::read_npy(dir / "f");
      } catch (const pn::error& e) {
        REQUIRE((e.code() == pn::errc::data_loss || e.code() == pn::errc::unimplemented));
      }
    }
  }
}
