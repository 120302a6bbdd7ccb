// Sharded safetensors: the index, how tensors are cut into shards, and stale or hostile indices.
#include "folder.hpp"

#include <pinion/files/safetensors.hpp>

#include <catch2/catch.hpp>

namespace {

namespace files = pinion::files;
using tensors = std::map<std::string, pinion::any_tensor>;

const tensors four{
    {"a", any<float>({1, 2})}, {"b", any<float>({3, 4})}, {"c", any<float>({5, 6, 7, 8, 9})}, {"d", any<float>(1)}};

std::string reading(const std::string& json) {
  const folder dir;
  dir.write("f", json);
  return outcome_in(dir, [&] { files::read_shard_index(dir / "f"); });
}
std::string naming(const std::string& shard) {
  return reading(R"({"weight_map":{"w":")" + shard + R"("}})");
}

}  // namespace

TEST_CASE("shards are numbered from 1 with five digits") {
  CHECK(files::shard_name("model", 0, 3) == "model-00001-of-00003.safetensors");
  CHECK(files::shard_name("model", 99'999, 100'000) == "model-100000-of-100000.safetensors");
}

TEST_CASE("tensors are cut into shards in order, a large one alone, and the index finds them all") {
  const folder dir;
  const auto path = files::write_sharded_safetensors(dir.path, "model", four, 16);
  CHECK(path == dir / "model.safetensors.index.json");
  const files::sharded_safetensors_reader reader(path);
  CHECK(reader.index().weight_map == std::map<std::string, std::string>{{"a", "model-00001-of-00003.safetensors"},
                                                                        {"b", "model-00001-of-00003.safetensors"},
                                                                        {"c", "model-00002-of-00003.safetensors"},
                                                                        {"d", "model-00003-of-00003.safetensors"}});
  CHECK(reader.index().total_size == 40);
  for (const auto& [name, value] : four) CHECK(reader.read(name) == value);
  CHECK(failure([&] { reader.read("e"); }) == "not_found: there is no tensor 'e' in the index of 3 safetensors files");
}

TEST_CASE("a name that is nearly one of an index's is answered with that") {
  const folder dir;
  const tensors two{{"layer/weights", any<float>({1, 2})}, {"other", any<float>({1, 2})}};
  const files::sharded_safetensors_reader reader(files::write_sharded_safetensors(dir.path, "model", two, 8));
  CHECK(failure([&] { reader.read("layer/wieghts"); }) ==
        "not_found: there is no tensor 'layer/wieghts' in the index of 2 safetensors files; did you mean "
        "'layer/weights'?");
}

TEST_CASE("one shard is a file without an index") {
  const folder dir;
  CHECK(files::write_sharded_safetensors(dir.path, "model", four) == dir / "model.safetensors");
  CHECK(dir.files() == 1);
  CHECK(files::read_safetensors(dir / "model.safetensors") == four);
}

TEST_CASE("an index that is older than its shards is data loss") {
  const folder dir;
  const auto path = files::write_sharded_safetensors(dir.path, "model", four, 16);
  const auto stale = [&](const tensors& t) {
    files::write_safetensors(dir / "model-00002-of-00003.safetensors", t);
    return outcome_in(dir, [&] { files::sharded_safetensors_reader reader(path); });
  };
  const std::string index = "data_loss: model.safetensors.index.json ", older = "; is it older than its files?";
  CHECK(stale({{"x", any<float>(1)}}) ==
        index + "says that tensor 'c' is in model-00002-of-00003.safetensors, which does not hold it" + older);
  CHECK(stale({{"c", four.at("c")}, {"d", any<float>(1)}}) ==
        index + "does not say that tensor 'd' is in model-00002-of-00003.safetensors" + older);
  CHECK(stale({{"c", any<float>(1)}}) == index + "speaks of 40 bytes, and its shards hold 24" + older);
  CHECK(stale({{"c", four.at("c")}}) == "internal: nothing was thrown");
  std::filesystem::remove(dir / "model-00002-of-00003.safetensors");
  CHECK(outcome_in(dir, [&] { files::sharded_safetensors_reader reader(path); }) ==
        "not_found: cannot open model-00002-of-00003.safetensors: No such file or directory");
}

TEST_CASE("an index of others is read: other notes, no total, shards in folders below") {
  const std::string fine = "internal: nothing was thrown";
  CHECK(reading(R"({"metadata":{"total_size":4,"note":[1]},"weight_map":{"w":"x"},"more":1})") == fine);
  CHECK(reading(R"({"metadata":{"total_size":4.5},"weight_map":{}})") == fine);
  CHECK(reading(R"({"metadata":7,"weight_map":{}})") == fine);
  CHECK(naming("sub/x.safetensors") == fine);
}

TEST_CASE("a path that leaves the folder of the index is refused, when read and when written") {
  for (const std::string out :
       {"/etc/passwd", "../x", "a/../../x", "a/..", "..", ".", "", "a/", "./x", "a\\\\b", "a\\u0000b"})
    CHECK_THAT(naming(out), Catch::EndsWith("which is not in its own folder"));
  const folder dir;
  CHECK(outcome_in(dir, [&] {
          files::write_shard_index(dir / "i", {{{"w", "../x"}}, 1});
        }) == "invalid_argument: the file '../x' of tensor 'w' is not in the folder of i");
}

TEST_CASE("an index that is not JSON of its form is data loss") {
  CHECK_THAT(reading(""), Catch::StartsWith("data_loss: f is no JSON: "));
  CHECK_THAT(reading("{\"weight_map\":{}"), Catch::StartsWith("data_loss: f is no JSON: "));
  CHECK(reading(std::string("{\"weight_map\":{}}\0", 18)) == "data_loss: f is no JSON: it holds a NUL");
  for (const std::string none : {"[]", "{}", "{\"weight_map\":[]}", "7"})
    CHECK(reading(none) == "data_loss: f is no index of safetensors files: it has no weight_map");
  CHECK(reading(R"({"weight_map":{"w":1}})") == "data_loss: f says no file for tensor 'w'");
  CHECK(reading(R"({"weight_map":{"w":"a","w":"b"}})") == "data_loss: f has the name 'w' twice");
  CHECK(reading(R"({"weight_map":{},"weight_map":{}})") == "data_loss: f has the name 'weight_map' twice");
  CHECK(reading(std::string(100'000, '[')) == "data_loss: f nests too deep");
}

TEST_CASE("a changed byte of an index crashes nothing") {
  const folder dir;
  const auto path = files::write_sharded_safetensors(dir.path, "m", four, 16);
  const std::string good = bytes_of(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {1, 2, 16, 32, 128, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      dir.write("g.json", bytes);
      try {
        files::sharded_safetensors_reader reader(dir / "g.json");
      } catch (const pinion::error& e) {
        REQUIRE((e.code() == pinion::errc::data_loss || e.code() == pinion::errc::not_found));
      }
    }
  }
}
