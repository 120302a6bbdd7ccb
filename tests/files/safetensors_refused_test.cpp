// safetensors files of others: what is read, what is refused, and how that reads.
#include "folder.hpp"

#include <pinion/files/safetensors.hpp>

#include <catch2/catch.hpp>

#include <cstring>

namespace {

namespace pn = pinion;
namespace files = pinion::files;

std::string with_header(const std::string& json, std::size_t data) {
  std::string bytes(8, '\0');
  const std::uint64_t n = json.size();
  std::memcpy(bytes.data(), &n, 8);
  return bytes + json + std::string(data, '\1');
}

// The names read, as "a b", or the error without the file's name.
std::string reading(const std::string& bytes) {
  const folder dir;
  dir.write("f", bytes);
  std::string names;
  const std::string said = outcome_in(dir, [&] {
    const files::safetensors_reader reader(dir / "f");
    for (const auto& t : reader.tensors()) names += (names.empty() ? "" : " ") + t.name;
  });
  return said == "internal: nothing was thrown" ? "read: " + names : said;
}
std::string reading(const std::string& json, std::size_t data) {
  return reading(with_header(json, data));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}
// A file of one tensor `w`.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets, std::size_t data) {
  return reading(R"({"w":)" + entry(dtype, shape, offsets) + "}", data);
}

const std::string byte = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";

}  // namespace

TEST_CASE("what the format allows is read") {
  CHECK(one("F32", "[2]", "[0,8]", 8) == "read: w");
  CHECK(one("F32", "[]", "[0,4]", 4) == "read: w");
  CHECK(one("F32", "[3,0]", "[0,0]", 0) == "read: w");
  CHECK(reading("{}", 0) == "read: ");
  CHECK(reading(R"({"__metadata__":{"format":"pt"}})", 0) == "read: ");
  CHECK(reading("{}" + std::string(6, ' '), 0) == "read: ");
  CHECK(reading(" \n{\"w\":" + byte + "}\n\r\t ", 1) == "read: w");
  CHECK(reading(R"({"b":)" + entry("U8", "[1]", "[1,2]") + R"(,"a":)" + entry("U8", "[1]", "[0,1]") + "}", 2) ==
        "read: a b");
  CHECK(reading(R"({"b":)" + entry("U8", "[1]", "[0,1]") + R"(,"d":)" + entry("F64", "[1]", "[1,9]") + "}", 9) ==
        "read: b d");
  CHECK(reading(R"({"b":)" + entry("U8", "[0]", "[1,1]") + R"(,"a":)" + entry("U8", "[1]", "[0,1]") + R"(,"c":)" +
                    entry("U8", "[1]", "[1,2]") + "}",
                2) == "read: a b c");
  CHECK(reading("{\"\xc3\xa9\":" + byte + "}", 1) == "read: \xc3\xa9");
}

TEST_CASE("a field that pinion does not know is passed over, whatever it holds") {
  for (const std::string extra :
       {"1", "-1", "1.5", "null", "true", "\"x\"", "[]", "[[1,{\"dtype\":2}],{}]", "{\"shape\":[1,[2]]}"})
    CHECK(reading(R"({"w":{"dtype":"U8","more":)" + extra + R"(,"shape":[1],"data_offsets":[0,1]}})", 1) == "read: w");
}

TEST_CASE("elements that pinion has no dtype for are listed, and refused one by one") {
  const folder dir;
  dir.write("f", with_header(R"({"a":)" + entry("F8_E4M3", "[4]", "[0,4]") + R"(,"b":)" + entry("U8", "[1]", "[4,5]") +
                                 R"(,"c":)" + entry("F4", "[4]", "[5,7]") + "}",
                             7));
  const files::safetensors_reader reader(dir / "f");
  CHECK(reader.find("a")->format == "F8_E4M3");
  CHECK(reader.read("b") == any<std::uint8_t>({1}));
  CHECK(outcome_in(dir, [&] { reader.read("a"); }) ==
        "unimplemented: tensor 'a' in f has elements of F8_E4M3, which pinion has no dtype for");
}

TEST_CASE("a file that does not add up is data loss") {
  CHECK(reading("") == "data_loss: f is no safetensors file: it has less than 8 bytes");
  CHECK(reading(std::string(7, '\0')) == "data_loss: f is no safetensors file: it has less than 8 bytes");
  CHECK(reading(from_hex("09 00 00 00 00 00 00 00") + "{}      ") ==
        "data_loss: f is no safetensors file, or is cut short: it announces a header of 9 bytes, and has 16 in all");
  CHECK(reading(from_hex("ff ff ff ff ff ff ff ff") + "{}      ") ==
        "data_loss: f is no safetensors file, or is cut short: it announces a header of 18446744073709551615 bytes, "
        "and has 16 in all");
  CHECK(one("U8", "[2]", "[0,2]", 1) ==
        "data_loss: f is cut short: its header describes 2 bytes of elements, and there are 1");
  CHECK(one("U8", "[2]", "[0,2]", 3) ==
        "data_loss: f has bytes that belong to nothing: its header describes 2 bytes of elements, and there are 3");
  CHECK(one("U8", "[2]", "[1,3]", 3) ==
        "data_loss: f is damaged: tensor 'w' begins at byte 1 of the elements, where the one before it ends at 0");
  CHECK(reading(R"({"a":)" + entry("U8", "[2]", "[0,2]") + R"(,"b":)" + entry("U8", "[2]", "[1,3]") + "}", 3) ==
        "data_loss: f is damaged: tensor 'b' begins at byte 1 of the elements, where the one before it ends at 2");
  CHECK(reading(R"({"a":)" + entry("U8", "[2]", "[0,2]") + R"(,"b":)" + entry("U8", "[2]", "[0,2]") + "}", 2) ==
        "data_loss: f is damaged: tensor 'b' begins at byte 0 of the elements, where the one before it ends at 2");
  CHECK(reading(R"({"a":)" + entry("U8", "[2]", "[0,2]") + R"(,"b":)" + entry("U8", "[0]", "[1,1]") + "}", 2) ==
        "data_loss: f is damaged: tensor 'b' begins at byte 1 of the elements, where the one before it ends at 2");
  for (const auto& [shape, offsets] :
       std::vector<std::pair<std::string, std::string>>{{"[2]", "[0,4]"},
                                                        {"[1]", "[4,0]"},
                                                        {"[9223372036854775807,2]", "[0,4]"},
                                                        {"[4294967296,4294967296]", "[0,0]"},
                                                        {"[0,4294967296,4294967296]", "[0,0]"},
                                                        {"[1]", "[0,18446744073709551615]"},
                                                        {"[18446744073709551615]", "[0,4]"}})
    CHECK_THAT(one("F32", shape, offsets, 4), Catch::StartsWith("data_loss: f is damaged: tensor 'w' "));
  CHECK(one("F4", "[3]", "[0,1]", 1) ==
        "data_loss: f is damaged: tensor 'w' takes the bytes 0 to 1, which do not fit F4[3]");
}

TEST_CASE("a header longer than any reader takes is refused before it is read") {
  const folder dir;
  dir.write("f", from_hex("01 e1 f5 05 00 00 00 00"));
  std::filesystem::resize_file(dir / "f", 100'000'100);  // a hole: takes no room
  CHECK_THAT(failure([&] { files::safetensors_reader reader(dir / "f"); }),
             Catch::Contains("announces a header of 100000001 bytes"));
}

TEST_CASE("a header that would be longer than any reader takes is not written") {
  const folder dir;
  files::safetensors_options o;
  o.metadata["note"] = std::string(100'000'000, 'x');
  CHECK_THAT(outcome_in(dir,
                        [&] {
                          files::safetensors_writer(dir / "f", {{"a", pn::dtype::float32, {2}}}, o);
                        }),
             Catch::StartsWith("invalid_argument: the names and notes of f take 1000") &&
                 Catch::Contains("100,000,000 are read by others"));
}

TEST_CASE("a header that is not the JSON of the format is data loss, with the reason") {
  using Catch::StartsWith;
  const std::string no_object = "data_loss: f is no safetensors file: its header is no JSON object";
  CHECK(reading("", 0) == no_object);
  CHECK(reading("[]", 0) == no_object);
  CHECK(reading("\xef\xbb\xbf{}", 0) == no_object);
  CHECK(reading(std::string("{}\0\0", 4), 0) == no_object);
  for (const std::string bad : {"{", "{}}", "{} {}", "{\"a\"}", "{\"a\":}", "{,}", "{} // x", "{\"\xff\":{}}",
                                "{\"\\ud800\":{}}", "{\"a\":\"\n\"}"})
    CHECK_THAT(reading(bad, 0), StartsWith("data_loss: f has a header that is no JSON (at byte ") ||
                                    StartsWith("data_loss: f has a text"));
  CHECK(reading(R"({"w":1})", 0) == "data_loss: f has a number where 'w' should be described");
  CHECK(reading(R"({"w":[]})", 0) == "data_loss: f has a list where 'w' should be described");
  CHECK(reading(R"({"w":{}})", 0) == "data_loss: f is damaged: tensor 'w' has no dtype");
  CHECK(reading(R"({"w":{"dtype":"U8","shape":[]}})", 0) == "data_loss: f is damaged: tensor 'w' has no data_offsets");
  CHECK(one("f32", "[1]", "[0,4]", 4) ==
        "data_loss: f is damaged: tensor 'w' has the dtype 'f32', which the format does not know");
  CHECK(one("F32", "[-1]", "[0,4]", 4) == "data_loss: f is damaged: tensor 'w' has a negative number in its shape");
  CHECK(one("F32", "[1.0]", "[0,4]", 4) ==
        "data_loss: f is damaged: tensor 'w' has a number with a fraction, or a huge one in its shape");
  CHECK(one("F32", "[[1]]", "[0,4]", 4) == "data_loss: f is damaged: tensor 'w' has a list in its shape");
  CHECK(one("F32", "1", "[0,4]", 4) == "data_loss: f is damaged: tensor 'w' has a number in its shape");
  CHECK(one("F32", "{}", "[0,4]", 4) == "data_loss: f is damaged: tensor 'w' has an object in its shape");
  CHECK(one("F32", "[\"1\"]", "[0,4]", 4) == "data_loss: f is damaged: tensor 'w' has a text in its shape");
  CHECK(one("F32", "[1]", "[4]", 4) == "data_loss: f is damaged: tensor 'w' has fewer than two data_offsets");
  CHECK(one("F32", "[1]", "[0,4,4]", 4) == "data_loss: f is damaged: tensor 'w' has more than two data_offsets");
  CHECK(one("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]", 4) ==
        "unimplemented: f: tensor 'w' has more than 8 dimensions, which is what a tensor of pinion has");
  CHECK(reading(R"({"__metadata__":{"step":1}})", 0) ==
        "data_loss: f is damaged: __metadata__ has a number for 'step', not a text");
  CHECK(reading(R"({"__metadata__":[]})", 0) == "data_loss: f has a list where '__metadata__' should be described");
}

TEST_CASE("a name that stands twice is data loss, on every level") {
  CHECK(reading(R"({"w":)" + byte + R"(,"w":)" + byte + "}", 1) == "data_loss: f has the name 'w' twice");
  CHECK(reading(R"({"w":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1) ==
        "data_loss: f is damaged: tensor 'w' has 'dtype' twice");
  CHECK(reading(R"({"__metadata__":{"a":"1","a":"1"}})", 0) ==
        "data_loss: f is damaged: __metadata__ has the name 'a' twice");
  CHECK(reading(R"({"__metadata__":{},"__metadata__":{}})", 0) == "data_loss: f has the name '__metadata__' twice");
}

TEST_CASE("brackets nested as deep as a header is long are no trouble") {
  const std::size_t deep = 200'000;
  CHECK_THAT(reading(R"({"w":)" + std::string(deep, '['), 0), Catch::StartsWith("data_loss"));
  CHECK(reading(R"({"w":{"dtype":"U8","x":)" + std::string(deep, '[') + std::string(deep, ']') +
                    R"(,"shape":[1],"data_offsets":[0,1]}})",
                1) == "read: w");
}

TEST_CASE("checksums are all there or none, and eight digits each") {
  const auto noted = [](const std::string& notes) {
    return reading(R"({"__metadata__":{)" + notes + R"(},"w":)" + byte + "}", 1);
  };
  CHECK(noted(R"("crc32c:w":"00000000")") == "data_loss: f notes checksums, but none of '__metadata__'");
  CHECK(noted(R"("crc32c:__metadata__":"00000000")") == "data_loss: f notes checksums, but none of 'w'");
  CHECK(noted(R"("crc32c:w":"0")") == "data_loss: f notes a checksum that is none: '0'");
  CHECK(noted(R"("crc32c:w":"")") == "data_loss: f notes a checksum that is none: ''");
  CHECK(noted(R"("crc32c:w":"0000000G")") == "data_loss: f notes a checksum that is none: '0000000G'");
  CHECK(noted(R"("crc32c:w":"00000000","crc32c:v":"00000000","crc32c:__metadata__":"00000000")") ==
        "data_loss: f notes a checksum of 'v', which it does not hold");
  CHECK(noted(R"("crc32c:w":"00000000","crc32c:__metadata__":"00000000")") ==
        "data_loss: f is damaged: its header differs from its checksum");
}

TEST_CASE("a boolean that is neither 0 nor 1 is data loss") {
  const folder dir;
  std::string bytes = with_header(R"({"w":)" + entry("BOOL", "[2]", "[0,2]") + "}", 2);
  bytes.back() = 2;
  CHECK(outcome_in(dir, [&] { files::read_safetensors(dir.write("f", bytes)); }) ==
        "data_loss: tensor 'w' in f has a boolean of 2");
}
