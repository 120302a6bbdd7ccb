// safetensors: golden bytes, round trips, checksums, and what the writer promises.
#include "folder.hpp"

#include <pinion/files/crc32c.hpp>
#include <pinion/files/safetensors.hpp>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <sys/resource.h>

#include <csignal>

namespace {

namespace pn = pinion;
namespace files = pinion::files;
using pinion::dtype;
using tensors = std::map<std::string, pn::any_tensor>;

const std::string example_c = from_hex(
    "38 00 00 00 00 00 00 00 7b 22 77 22 3a 7b 22 64 74 79 70 65 22 3a 22 46 33 32 22 2c 22 73 68 61 70 65 22 3a 5b 32 "
    "5d 2c"
    "22 64 61 74 61 5f 6f 66 66 73 65 74 73 22 3a 5b 30 2c 38 5d 7d 7d 20 20 | 00 00 80 3f 00 00 00 c0");

pn::any_tensor raw(dtype type, const pn::shape& extent, unsigned fill = 1) {
  pn::any_tensor t(type, extent);
  for (std::size_t i = 0; i < t.bytes(); ++i)
    t.byte_data()[i] = static_cast<std::byte>(type == dtype::boolean ? i % 2 : i * fill);
  return t;
}

bool same_bytes(const pn::any_tensor& a, const pn::any_tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

std::string header_of(const std::string& file) {
  std::uint64_t n = 0;
  std::memcpy(&n, file.data(), 8);
  return file.substr(8, n);
}

}  // namespace

TEST_CASE("a tensor without notes or checksums is written to the byte as others write it, and read back") {
  const folder dir;
  const tensors w{{"w", any<float>({1, -2})}};
  files::write_safetensors(dir / "c.safetensors", w, {.checksums = false});
  CHECK(bytes_of(dir / "c.safetensors") == example_c);
  CHECK(files::read_safetensors(dir.write("d.safetensors", example_c)) == w);
}

TEST_CASE("the header is compact, notes first, larger elements first, then by name, padded to 8") {
  const folder dir;
  files::write_safetensors(
      dir / "f", {{"b", any<bool>(true)}, {"a", any<int>({1, 2, 3})}, {"z", any<double>(1)}, {"c", any<float>(1)}},
      {.metadata = {{"step", "7"}}, .checksums = false});
  CHECK(
      header_of(bytes_of(dir / "f")) ==
      R"({"__metadata__":{"format":"pt","step":"7"},"z":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("c":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"a":{"dtype":"I32","shape":[3],"data_offsets":[12,24]},)"
      R"("b":{"dtype":"BOOL","shape":[],"data_offsets":[24,25]}}      )");
}

TEST_CASE("checksums are noted by name in hexadecimal, and metadata() does not show them") {
  const folder dir;
  files::write_safetensors(dir / "f", {{"w", any<float>({1, -2})}});
  CHECK_THAT(bytes_of(dir / "f"), Catch::Contains("\"crc32c:w\":\"" + [] {
               const std::string data = example_c.substr(64);
               return fmt::format("{:08x}", files::crc32c(data));
             }() + "\""));
  const files::safetensors_reader reader(dir / "f");
  CHECK(reader.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
  CHECK(reader.tensors()[0].checksum.has_value());
}

TEST_CASE("every dtype but text, and every shape, comes back as it was") {
  const folder dir;
  tensors all;
  unsigned n = 0;
  for (const dtype type :
       {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean, dtype::bfloat16,
        dtype::half, dtype::int8, dtype::int16, dtype::uint16, dtype::uint32, dtype::uint64}) {
    for (const pn::shape& extent : {pn::shape{}, pn::shape{1}, pn::shape{3, 5}, pn::shape{0}, pn::shape{4, 0, 2},
                                    pn::shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      ++n;
      all.emplace("t/" + std::to_string(n) + " \"\n\\ \xc3\xa9", raw(type, extent, n));
    }
  }
  files::write_safetensors(dir / "f", all, {.metadata = {{"epoch", "3"}, {"", "\xe2\x82\xac"}}});
  const files::safetensors_reader reader(dir / "f");
  CHECK(reader.metadata().at("epoch") == "3");
  CHECK(reader.metadata().at("") == "\xe2\x82\xac");
  REQUIRE(reader.tensors().size() == all.size());
  for (const auto& [name, value] : all) CHECK(same_bytes(reader.read(name), value));
  for (const auto& t : reader.tensors()) CHECK(t.begin % size_of(t.type) == 0);
}

TEST_CASE("random sets of tensors come back as they were") {
  const folder dir;
  std::mt19937 dice(1);
  for (int round = 0; round < 30; ++round) {
    tensors all;
    for (unsigned i = dice() % 8; i > 0; --i) {
      pn::shape extent;
      for (unsigned rank = dice() % 4; rank > 0; --rank) extent.push_back(dice() % 5);
      all.emplace("n" + std::to_string(dice() % 100), raw(static_cast<dtype>(1 + dice() % 5), extent, dice() % 256));
    }
    files::write_safetensors(dir / "f", all, {.checksums = round % 2 == 0});
    const auto back = files::read_safetensors(dir / "f");
    REQUIRE(back.size() == all.size());
    for (const auto& [name, value] : all) CHECK(same_bytes(back.at(name), value));
  }
}

TEST_CASE("any number of tensors without elements come back, among others") {
  for (const std::size_t n : {16u, 17u, 40u, 300u}) {
    const folder dir;
    tensors all{{"some", raw(dtype::float32, {3})}, {"more", raw(dtype::uint8, {2, 2})}};
    for (std::size_t i = 0; i < n; ++i)
      all.emplace(fmt::format("{}", i), raw(i % 2 ? dtype::float32 : dtype::int64, {0, static_cast<std::int64_t>(i)}));
    files::write_safetensors(dir / "f", all);
    const auto back = files::read_safetensors(dir / "f");
    REQUIRE(back.size() == all.size());
    for (const auto& [name, value] : all) CHECK(same_bytes(back.at(name), value));
  }
}

TEST_CASE("no tensors at all are a file too") {
  const folder dir;
  files::write_safetensors(dir / "f", {}, {.checksums = false});
  CHECK(bytes_of(dir / "f") == from_hex("08 00 00 00 00 00 00 00") + "{}      ");
  CHECK(files::read_safetensors(dir / "f").empty());
}

TEST_CASE("tensors are written one after another, in any order, and none is forgotten") {
  const folder dir;
  files::safetensors_writer writer(dir / "f", {{"a", dtype::float32, {2}}, {"b", dtype::int32, {}}});
  writer.write("b", any<int>(5));
  CHECK(outcome_in(dir, [&] { writer.commit(); }) == "failed_precondition: tensor 'a' of f was not written");
  CHECK(outcome_in(dir, [&] {
          writer.write("a", any<float>({1, 2, 3}));
        }) == "invalid_argument: tensor 'a' of f was announced as float[2] and came as float[3]");
  CHECK(outcome_in(dir, [&] { writer.write("c", any<float>(1)); }) ==
        "invalid_argument: tensor 'c' of f was not announced");
  CHECK_FALSE(std::filesystem::exists(dir / "f"));
  writer.write("a", any<float>({1, 2}));
  writer.commit();
  CHECK(files::read_safetensors(dir / "f") == tensors{{"a", any<float>({1, 2})}, {"b", any<int>(5)}});
}

TEST_CASE("a tensor in pieces is the tensor, to the byte, checksum and all") {
  const auto whole = raw(dtype::float32, {5, 3}, 7);
  const auto rows = [&](std::int64_t first, std::int64_t n) {
    pn::any_tensor piece(dtype::float32, {n, 3});
    std::memcpy(piece.raw(), whole.byte_data() + first * 12, piece.bytes());
    return piece;
  };
  const std::vector<pn::any_tensor> pieces{rows(0, 2), rows(2, 0), rows(2, 3)};
  const folder dir;
  files::write_safetensors(dir / "whole", {{"t", whole}});
  files::safetensors_writer writer(dir / "cut", {{"t", dtype::float32, {5, 3}}});
  const auto refused = [&](std::vector<pn::any_tensor> wrong) {
    return outcome_in(dir, [&] { writer.write_pieces("t", wrong); });
  };
  CHECK(refused({pieces[0], raw(dtype::float32, {3, 2})}).find("'t'") != std::string::npos);
  CHECK(refused({pieces[0], raw(dtype::int32, {3, 3})}).find("not rows of one tensor") != std::string::npos);
  CHECK(refused({raw(dtype::float32, {}), raw(dtype::float32, {})}).find("not rows of one tensor") !=
        std::string::npos);
  CHECK(refused({pieces[0]}).find("was announced as float[5, 3] and came as float[2, 3]") != std::string::npos);
  CHECK(refused({}).find("was announced") != std::string::npos);
  writer.write_pieces("t", pieces);
  writer.commit();
  CHECK(bytes_of(dir / "cut") == bytes_of(dir / "whole"));
}

TEST_CASE("what a safetensors file cannot hold is refused with a sentence, and leaves no file") {
  const folder dir;
  const auto writing = [&](const tensors& t, const files::safetensors_options& o = {}) {
    return outcome_in(dir, [&] { files::write_safetensors(dir / "f", t, o); });
  };
  CHECK(writing({{"s", any<std::string>({"x"})}}) ==
        "invalid_argument: tensor 's' of f is of string, and safetensors files hold numbers and booleans only");
  CHECK(writing({{"__metadata__", any<float>(1)}}) ==
        "invalid_argument: tensor '__metadata__' of f has a name that is reserved");
  CHECK(writing({{"\xff", any<float>(1)}}) ==
        "invalid_argument: a name or note of a safetensors file is not UTF-8: \"\\ufffd\"");
  CHECK(writing({}, {.metadata = {{"crc32c:x", ""}}}) ==
        "invalid_argument: the note 'crc32c:x' of f takes a name that is kept for checksums");
  CHECK(outcome_in(dir, [&] {
          files::safetensors_writer(dir / "f", {{"a", dtype::int32, {}}, {"a", dtype::int32, {}}});
        }) == "invalid_argument: tensor 'a' of f is there twice");
  CHECK(dir.files() == 0);
}

TEST_CASE("a writer that is given up leaves what had the name") {
  const folder dir;
  const tensors before{{"w", any<float>({1, 2})}};
  files::write_safetensors(dir / "f", before);
  { files::safetensors_writer given_up(dir / "f", {{"w", dtype::float32, {2}}}); }
  CHECK(files::read_safetensors(dir / "f") == before);
  CHECK(dir.files() == 1);
}

TEST_CASE("a full disk is resource_exhausted, by name, and what had the name stays") {
  const folder dir;
  const tensors before{{"w", any<float>({1, 2})}};
  files::write_safetensors(dir / "f", before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{1000, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = outcome_in(dir, [&] {
    files::write_safetensors(dir / "f", {{"w", raw(dtype::float32, {1000})}});
  });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  CHECK(said == "resource_exhausted: cannot write f: File too large");
  CHECK(files::read_safetensors(dir / "f") == before);
  CHECK(dir.files() == 1);
}

TEST_CASE("a folder that is not there, or a name that is no file's, is an error that names it") {
  const folder dir;
  CHECK(outcome_in(dir, [&] { files::write_safetensors(dir / "none/f", {}); }) ==
        "not_found: cannot write none/f: No such file or directory");
  CHECK(failure([&] { files::write_safetensors("/dev/null", {}); }) ==
        "invalid_argument: cannot write /dev/null: it is there and no regular file");
  CHECK(outcome_in(dir, [&] { files::read_safetensors(dir / "f"); }) ==
        "not_found: cannot open f: No such file or directory");
  CHECK(failure([&] { files::read_safetensors(dir.path); }) ==
        "invalid_argument: " + dir.path.string() + " is not a regular file");
}

TEST_CASE("a name that is not there is not found") {
  const folder dir;
  const files::safetensors_reader reader(dir.write("f", example_c));
  CHECK(outcome_in(dir, [&] { reader.read("v"); }) == "not_found: there is no tensor 'v' in f");
  CHECK(reader.find("v") == nullptr);
  CHECK(reader.find("w")->extent == pn::shape{2});
}

TEST_CASE("a name that is nearly one of a file's is answered with that") {
  const folder dir;
  files::write_safetensors(dir / "f", {{"layer/weights", any<float>({1})}, {"layer/bias", any<float>({1})}});
  const files::safetensors_reader reader(dir / "f");
  CHECK(outcome_in(dir, [&] { reader.read("layer/wieghts"); }) ==
        "not_found: there is no tensor 'layer/wieghts' in f; did you mean 'layer/weights'?");
}

TEST_CASE("a flipped byte of the elements is data loss that names tensor and file") {
  const folder dir;
  files::write_safetensors(dir / "f", {{"a", any<float>({1, 2})}, {"w", any<float>({1, -2})}});
  std::string bytes = bytes_of(dir / "f");
  bytes[bytes.size() - 1] ^= 1;
  const files::safetensors_reader reader(dir.write("f", bytes));
  CHECK(reader.read("a") == any<float>({1, 2}));
  CHECK(outcome_in(dir, [&] { reader.read("w"); }) ==
        "data_loss: tensor 'w' in f is damaged: it differs from its checksum");
}

TEST_CASE("with checksums every change of a byte is an error, or changes nothing") {
  const folder dir;
  const tensors all{{"a", any<float>({1, 2, 3})}, {"b", any<std::uint8_t>({1, 2})}, {"none", any<float>({})}};
  files::write_safetensors(dir / "f", all, {.metadata = {{"step", "12"}}});
  const std::string good = bytes_of(dir / "f");
  const auto metadata = files::safetensors_reader(dir / "f").metadata();
  int refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 0x0f, 0x0a, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      dir.write("g", bytes);
      try {
        const files::safetensors_reader reader(dir / "g");
        const auto back = reader.read_all();
        REQUIRE(back == all);
        REQUIRE(reader.metadata() == metadata);
      } catch (const pn::error& e) {
        ++refused;
        REQUIRE(e.code() == pn::errc::data_loss);
      }
    }
  }
  CHECK(refused > static_cast<int>(good.size()) * 9);
}

TEST_CASE("without checksums a changed byte crashes nothing") {
  const folder dir;
  files::write_safetensors(dir / "f", {{"a", any<float>({1, 2, 3})}, {"b", any<bool>({true, false})}},
                           {.metadata = {{"step", "12"}}, .checksums = false});
  const std::string good = bytes_of(dir / "f");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int value = 0; value < 256; value += 5) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(value);
      dir.write("g", bytes);
      try {
        files::read_safetensors(dir / "g");
      } catch (const pn::error& e) {
        REQUIRE((e.code() == pn::errc::data_loss || e.code() == pn::errc::unimplemented));
      }
    }
  }
}

TEST_CASE("a file cut short anywhere, or longer, is data loss") {
  const folder dir;
  files::write_safetensors(dir / "f", {{"a", any<float>({1, 2, 3})}, {"b", any<std::uint8_t>({1, 2})}});
  const std::string good = bytes_of(dir / "f");
  for (std::size_t n = 0; n < good.size(); ++n) {
    dir.write("g", good.substr(0, n));
    REQUIRE(caught([&] { files::read_safetensors(dir / "g"); }).code() == pn::errc::data_loss);
  }
  dir.write("g", good + '\0');
  CHECK_THAT(failure([&] { files::read_safetensors(dir / "g"); }), Catch::Contains("has bytes that belong to nothing"));
}
