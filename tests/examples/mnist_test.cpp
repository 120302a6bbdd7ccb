// The digits of the examples: the IDX files in all their forms, the drawn ones, and the batches.
#include <mnist.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>
#include <zlib.h>

namespace {

using bytes = std::vector<std::uint8_t>;

// A folder that goes away with the test.
struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("pinion-mnist-" + std::to_string(::getpid()));
  folder() { std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }

  void raw(const std::string& name, const bytes& content) const {
    std::ofstream{path / name, std::ios::binary}.write(reinterpret_cast<const char*>(content.data()),
                                                       static_cast<std::streamsize>(content.size()));
  }
  void gzip(const std::string& name, const bytes& content) const {
    const gzFile file = gzopen((path / name).c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
  }
};

bytes idx(const std::vector<std::uint8_t>& shape, const bytes& items) {
  bytes result{0, 0, 8, static_cast<std::uint8_t>(shape.size())};
  for (const std::uint8_t n : shape) result.insert(result.end(), {0, 0, 0, n});
  result.insert(result.end(), items.begin(), items.end());
  return result;
}

bytes images(std::uint8_t count) {
  bytes items(count * mnist::pixels);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint8_t>(i % 256);
  return idx({count, 28, 28}, items);
}

bytes labels(std::uint8_t count) {
  bytes items(count);
  for (std::size_t i = 0; i < count; ++i) items[i] = static_cast<std::uint8_t>(i % 10);
  return idx({count}, items);
}

void write_good(const folder& dir) {
  dir.raw("train-images-idx3-ubyte", images(12));
  dir.gzip("train-labels.idx1-ubyte.gz", labels(12));
  dir.gzip("t10k-images-idx3-ubyte.gz", images(3));
  dir.raw("t10k-labels.idx1-ubyte", labels(3));
}

// "data_loss: ...the sentence", or "read" where nothing is wrong.
std::string outcome(const folder& dir) {
  try {
    mnist::load(dir.path);
    return "read";
  } catch (const pinion::error& e) {
    return std::string{to_string(e.code())} + ": " + e.what();
  }
}

// What happens when one file of a good folder is replaced.
std::string outcome_with(const std::string& name, const bytes& content) {
  const folder dir;
  write_good(dir);
  dir.raw(name, content);
  return outcome(dir);
}

bytes cut(bytes content, std::size_t by) {
  content.resize(content.size() - by);
  return content;
}

std::uint64_t fingerprint(const mnist::digits& d) {
  std::uint64_t hash = 14695981039346656037u;
  for (const float ink : d.images) hash = (hash ^ static_cast<std::uint64_t>(ink * 255 + .5f)) * 1099511628211u;
  for (const std::int32_t label : d.labels) hash = (hash ^ static_cast<std::uint64_t>(label)) * 1099511628211u;
  return hash;
}

}  // namespace

TEST_CASE("IDX files are read raw or gzipped, with either joint in the name") {
  const folder dir;
  write_good(dir);
  const mnist::dataset data = mnist::load(dir.path);
  CHECK(data.train.count == 12);
  CHECK(data.train.images.size() == 12 * 784);
  CHECK(data.train.images[255] == 1.0f);
  CHECK(data.train.images[51] == .2f);
  CHECK(data.train.labels == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1});
  CHECK(data.test.count == 3);
  CHECK(data.source == "MNIST in " + dir.path.string());
}

TEST_CASE("a missing folder or file is not found, by name") {
  CHECK_THROWS_WITH(mnist::load("/no/such/folder"), "there is no folder /no/such/folder");
  const folder dir;
  write_good(dir);
  std::filesystem::remove(dir.path / "t10k-labels.idx1-ubyte");
  CHECK_THAT(outcome(dir),
             Catch::StartsWith("not_found: there is no t10k-labels-idx1-ubyte (or .idx1-ubyte, each also .gz) in"));
}

TEST_CASE("a damaged file is data loss, and the sentence says which and how") {
  using Catch::Contains;
  const std::string name = "train-images-idx3-ubyte";
  const bytes good = images(12);
  CHECK(outcome_with(name, good) == "read");
  CHECK_THAT(outcome_with(name, {}),
             Contains("data_loss") && Contains(name + " is cut short: 0 bytes do not hold its header"));
  CHECK_THAT(outcome_with(name, cut(good, 1)), Contains("is cut short: it announces more items than the 9407 it has"));
  CHECK_THAT(outcome_with(name, cut(good, good.size() - 10)), Contains("is cut short"));
  bytes longer = good;
  longer.resize(good.size() + 5);
  CHECK_THAT(outcome_with(name, longer), Contains("has 5 bytes more than it announces"));
  CHECK_THAT(outcome_with(name, labels(12)), Contains("is no IDX file of unsigned bytes with 3 dimension(s)"));
  CHECK_THAT(outcome_with(name, idx({12, 20, 20}, bytes(4800))), Contains("has images of 20 x 20 pixels, not 28 x 28"));
  CHECK_THAT(outcome_with(name, images(11)), Contains("has 11 images, but") && Contains("has 12 labels"));
  CHECK_THAT(outcome_with("t10k-labels-idx1-ubyte", idx({3}, {1, 10, 2})), Contains("has the label 10"));
  bytes huge = good;
  std::fill(huge.begin() + 4, huge.begin() + 16, std::uint8_t{255});
  CHECK_THAT(outcome_with(name, huge), Contains("is cut short"));
}

TEST_CASE("a gzip file that is cut short is data loss") {
  const folder dir;
  write_good(dir);
  const auto path = dir.path / "t10k-images-idx3-ubyte.gz";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  CHECK_THAT(outcome(dir), Catch::StartsWith("data_loss") && Catch::Contains("is damaged or cut short"));
}

TEST_CASE("open prefers the folder it is given to the one in the environment") {
  const folder dir;
  write_good(dir);
  const char* before = std::getenv("PINION_MNIST_DIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("PINION_MNIST_DIR", "/no/such/folder", 1);
  CHECK(mnist::open(dir.path.string()).train.count == 12);
  CHECK_THROWS_WITH(mnist::open(), "there is no folder /no/such/folder");
  ::setenv("PINION_MNIST_DIR", dir.path.c_str(), 1);
  CHECK(mnist::open("").test.count == 3);
  before == nullptr ? ::unsetenv("PINION_MNIST_DIR") : ::setenv("PINION_MNIST_DIR", kept.c_str(), 1);
}

TEST_CASE("drawn digits are the same for a seed on every machine") {
  const mnist::dataset data = mnist::synthesise(300, 100, 1);
  CHECK(fingerprint(data.train) == 0xadf27f68cf1c2b62u);
  CHECK(fingerprint(data.test) == 0xcce280775ea9794cu);
  CHECK(fingerprint(mnist::synthesise(300, 0, 2).train) != fingerprint(data.train));
  CHECK(data.source == "300 + 100 digits drawn with seed 1");
}

TEST_CASE("a smaller set of drawn digits begins a larger one") {
  const mnist::digits large = mnist::synthesise(50, 0, 3).train, small = mnist::synthesise(20, 0, 3).train;
  CHECK(std::equal(small.images.begin(), small.images.end(), large.images.begin()));
  CHECK(std::equal(small.labels.begin(), small.labels.end(), large.labels.begin()));
}

TEST_CASE("every drawn digit has ink on paper, and all ten occur") {
  const mnist::digits data = mnist::synthesise(1000, 0, 4).train;
  std::array<int, 10> seen{};
  for (std::size_t i = 0; i < data.count; ++i) {
    ++seen.at(static_cast<std::size_t>(data.labels[i]));
    const auto first = data.images.begin() + static_cast<std::ptrdiff_t>(i * mnist::pixels);
    const auto inked = std::count_if(first, first + mnist::pixels, [](float ink) { return ink > .5f; });
    CHECK((inked > 10 && inked < 400));
  }
  CHECK(*std::min_element(seen.begin(), seen.end()) > 60);
  CHECK(*std::min_element(data.images.begin(), data.images.end()) == 0);
  CHECK(*std::max_element(data.images.begin(), data.images.end()) <= 1);
}

TEST_CASE("an epoch of batches shows every digit once, in an order of its own") {
  const mnist::digits data = mnist::synthesise(40, 0, 5).train;
  mnist::batches batches{data, 8, 1};
  std::vector<float> images(8 * mnist::pixels);
  std::vector<std::int32_t> labels(8);
  std::multiset<std::vector<float>> all, epochs[2];
  std::vector<std::int32_t> order[2];
  for (std::size_t i = 0; i < data.count; ++i) {
    all.emplace(data.images.data() + i * mnist::pixels, data.images.data() + (i + 1) * mnist::pixels);
  }
  REQUIRE(batches.per_epoch() == 5);
  for (std::size_t step = 0; step < 10; ++step) {
    const std::size_t epoch = batches.epoch();
    REQUIRE(epoch == step / 5);
    batches.next(images.data(), labels.data());
    for (std::size_t i = 0; i < 8; ++i) {
      epochs[epoch].emplace(images.data() + i * mnist::pixels, images.data() + (i + 1) * mnist::pixels);
    }
    order[epoch].insert(order[epoch].end(), labels.begin(), labels.end());
  }
  CHECK(epochs[0] == all);
  CHECK(epochs[1] == all);
  CHECK(order[0] != order[1]);
}

TEST_CASE("batches go the same way for a seed, and leave out what does not fill one") {
  const mnist::digits data = mnist::synthesise(25, 0, 6).train;
  mnist::batches one{data, 10, 7}, other{data, 10, 7};
  std::vector<float> a(10 * mnist::pixels), b = a;
  std::vector<std::int32_t> la(10), lb(10);
  for (int step = 0; step < 6; ++step) {
    one.next(a.data(), la.data());
    other.next(b.data(), lb.data());
    CHECK((a == b && la == lb));
  }
  CHECK(one.per_epoch() == 2);
  CHECK(one.epoch() == 3);
}

TEST_CASE("digits are held out from the end, and are then no training digits") {
  const mnist::digits all = mnist::synthesise(20, 0, 6).train;
  mnist::digits rest = all;
  const mnist::digits held = mnist::hold_out(rest, 5);
  CHECK((rest.count == 15 && held.count == 5));
  CHECK(rest.labels == std::vector(all.labels.begin(), all.labels.begin() + 15));
  CHECK(held.labels == std::vector(all.labels.begin() + 15, all.labels.end()));
  CHECK(held.images == std::vector(all.images.begin() + 15 * mnist::pixels, all.images.end()));
  CHECK_THROWS_WITH(mnist::hold_out(rest, 16), "16 digits cannot be held out of 15");
}

TEST_CASE("a batch must be neither empty nor larger than the set") {
  const mnist::digits data = mnist::synthesise(5, 0, 8).train;
  CHECK_THROWS_WITH((mnist::batches{data, 6, 1}), "a batch of 6 digits cannot be taken from 5");
  CHECK_THROWS_AS((mnist::batches{data, 0, 1}), pinion::error);
}

TEST_CASE("the real MNIST files, where PINION_MNIST_DIR names them, are whole") {
  const char* dir = std::getenv("PINION_MNIST_DIR");
  if (dir == nullptr) return;
  const mnist::dataset data = mnist::load(dir);
  CHECK(data.train.count == 60000);
  CHECK(data.test.count == 10000);
  CHECK(std::vector(data.train.labels.begin(), data.train.labels.begin() + 6) ==
        std::vector<std::int32_t>{5, 0, 4, 1, 9, 2});
  CHECK(std::vector(data.test.labels.begin(), data.test.labels.begin() + 6) ==
        std::vector<std::int32_t>{7, 2, 1, 0, 4, 1});
}
