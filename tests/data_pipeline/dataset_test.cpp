// Datasets: sources, stages, and the laws that hold between them.
#include "support.hpp"

#include <catch2/catch.hpp>

namespace {

namespace pn = pinion;
namespace data = pinion::data;
using data::range;
using pn::tensor;

const auto letters = [] {
  return data::from_tensors(tensor<int>::of({{1, 2}, {3, 4}, {5, 6}}), tensor<std::string>::of({"a", "b", "c"}));
}();

std::vector<std::int64_t> values(data::pass<std::int64_t> pass) {
  std::vector<std::int64_t> v;
  for (auto& [x] : pass) v.push_back(x);
  return v;
}
std::vector<std::int64_t> sorted(std::vector<std::int64_t> v) {
  std::sort(v.begin(), v.end());
  return v;
}
std::vector<std::int64_t> first(std::int64_t n) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int64_t>(i);
  return v;
}

}  // namespace

TEST_CASE("tensors are taken apart along dimension 0") {
  CHECK(text(letters) == R"([1, 2]/"a" [3, 4]/"b" [5, 6]/"c")");
  CHECK(text(data::from_tensors(tensor<float>::of({}))) == "");
}

TEST_CASE("a scalar, or tensors of different length, make no dataset") {
  CHECK(
      failure([] { data::from_tensors(tensor<float>::of({1}), tensor<float>(1.0f)); }) ==
      "invalid_argument: a dataset from tensors takes slices of dimension 0, which tensor 1, a scalar, does not have");
  CHECK(failure([] {
          data::from_tensors(tensor<float>::of({1}), tensor<int>::of({1, 2}));
        }) == "invalid_argument: a dataset from tensors of different length: tensor 0 has 1 rows, tensor 1 has 2");
}

TEST_CASE("an element is the receiver's to change; the dataset stays as it is") {
  for (auto& [x, s] : letters) {
    x.data()[0] = 99;
    s.data()[0] = "changed";
  }
  CHECK(text(letters) == R"([1, 2]/"a" [3, 4]/"b" [5, 6]/"c")");
  const auto kept = letters.map([](const tensor<int>& x, const tensor<std::string>&) { return x; }).cache();
  for (int i = 0; i < 2; ++i)
    for (auto& [x] : kept) x.data()[0] = 99;
  CHECK(text(kept) == "[1, 2] [3, 4] [5, 6]");
}

TEST_CASE("a range counts in steps, either way, to the ends of int64") {
  CHECK(text(range(4)) == "0 1 2 3");
  CHECK(text(range(2, 9, 3)) == "2 5 8");
  CHECK(text(range(3, 0, -1)) == "3 2 1");
  CHECK(text(range(3, 3)) == "");
  CHECK(text(range(3, 0)) == "");
  CHECK(text(range(0, 3, -1)) == "");
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  CHECK(text(range(most - 1, most)) == "9223372036854775806");
  CHECK(text(range(least, most, most)) == "-9223372036854775808 -1 9223372036854775806");
  CHECK(failure([] { range(0, 1, 0); }) == "invalid_argument: a range goes on in steps other than 0");
  CHECK(failure([=] { range(least, most); }) == "invalid_argument: a range of 2^63 numbers or more");
}

TEST_CASE("a generator gives tensors, numbers or tuples until it gives nothing, and each pass a new copy of it") {
  const auto numbers = data::from_generator([i = 0]() mutable { return i < 3 ? std::optional(i++) : std::nullopt; });
  static_assert(std::is_same_v<decltype(numbers), const data::dataset<int>>);
  CHECK(text(numbers) == "0 1 2");
  CHECK(text(numbers) == "0 1 2");
  const auto pairs = data::from_generator([i = 0]() mutable -> std::optional<std::pair<tensor<float>, int>> {
    if (i == 2) return std::nullopt;
    return std::pair{tensor<float>::of({1.0f * i, 2}), i++};
  });
  static_assert(std::is_same_v<decltype(pairs), const data::dataset<float, int>>);
  CHECK_THAT(text(pairs), Catch::EndsWith("/1"));
}

TEST_CASE("a loop or next() gives each element once, and after the end nothing, ever") {
  int sum = 0;
  for (const auto& [x, s] : letters) sum += x(0);
  CHECK(sum == 9);
  auto pass = letters.iterate();
  for (int i = 0; i < 3; ++i) CHECK(pass.next());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(pass.next());
}

TEST_CASE("batches have a new first dimension, the last what is left") {
  CHECK(text(letters.batch(2)) == R"([[1, 2], [3, 4]]/["a", "b"] [[5, 6]]/["c"])");
  CHECK(text(letters.batch(2, {.drop_remainder = true})) == R"([[1, 2], [3, 4]]/["a", "b"])");
  CHECK(text(range(4).batch(2, {.drop_remainder = true})) == "[0, 1] [2, 3]");
  CHECK(text(range(5).batch(2).batch(2, {.drop_remainder = true})) == "[[0, 1], [2, 3]]");
  CHECK(text(range(0).batch(2)) == "");
  CHECK(text(range(3).batch(std::int64_t{1} << 62)) == "[0, 1, 2]");
  CHECK(text(plain(range(5)).batch(2)) == text(range(5).batch(2)));
}

TEST_CASE("a batch of elements of different shapes is refused with both") {
  const auto ragged = data::from_generator([i = 0]() mutable { return std::optional(tensor<int>(pn::shape{++i})); });
  auto pass = ragged.batch(2).iterate();
  CHECK(failure([&] { pass.next(); }) ==
        "invalid_argument: a batch of elements of different shapes: component 0 of the first is [1], of element 1 [2]");
}

TEST_CASE("take, skip and shard choose by place") {
  for (const auto& ten : {range(10), plain(range(10))}) {
    CHECK(text(ten.take(3)) == "0 1 2");
    CHECK(text(ten.take(0)) == "");
    CHECK(text(ten.take(99)) == text(ten));
    CHECK(text(ten.skip(7)) == "7 8 9");
    CHECK(text(ten.skip(0)) == text(ten));
    CHECK(text(ten.skip(99)) == "");
    CHECK(text(ten.skip(2).take(3).batch(2)) == "[2, 3] [4]");
    CHECK(text(ten.shard(3, 0)) == "0 3 6 9");
    CHECK(text(ten.shard(3, 2)) == "2 5 8");
    CHECK(text(ten.shard(3, 2).batch(2)) == "[2, 5] [8]");
    CHECK(text(ten.shard(20, 15)) == "");
    CHECK(text(ten.skip(4).repeat(2).take(8)) == "4 5 6 7 8 9 4 5");
  }
  CHECK(text(range(100'000).skip(99'998)) == "99998 99999");
}

TEST_CASE("repeat goes through again, and ends where there is nothing to repeat") {
  for (const auto& two : {range(2), plain(range(2))}) {
    CHECK(text(two.repeat(3)) == "0 1 0 1 0 1");
    CHECK(text(two.repeat(0)) == "");
    CHECK(text(two.repeat(2).batch(3)) == "[0, 1, 0] [1]");
    CHECK(text(two.repeat().take(5)) == "0 1 0 1 0");
    CHECK(text(two.take(0).repeat()) == "");
    CHECK(text(two.repeat(2).repeat(2)) == "0 1 0 1 0 1 0 1");
  }
}

TEST_CASE("map may change number, types and shapes of the components") {
  const auto sums = letters.map([](const tensor<int>& x, const tensor<std::string>& s) {
    return std::tuple{static_cast<float>(x(0) + x(1)) / 2, s, true};
  });
  static_assert(std::is_same_v<decltype(sums), const data::dataset<float, std::string, bool>>);
  CHECK(text(sums) == R"(1.5/"a"/true 3.5/"b"/true 5.5/"c"/true)");
  CHECK(text(range(3).map([](std::int64_t i) { return i * i; })) == "0 1 4");
}

TEST_CASE("filter keeps what a function says") {
  const auto even = [](std::int64_t i) { return i % 2 == 0; };
  CHECK(text(range(6).filter(even)) == "0 2 4");
  CHECK(text(range(6).filter(even).batch(2)) == "[0, 2] [4]");
}

TEST_CASE("zip puts elements side by side, up to the shortest") {
  CHECK(text(data::zip(range(3), letters, range(5, 7))) == R"(0/[1, 2]/"a"/5 1/[3, 4]/"b"/6)");
}

TEST_CASE("a shuffle is a permutation, for every size of its buffer, from rows and from elements alike") {
  for (const int n : {0, 1, 2, 10, 57}) {
    for (const int buffer : {1, 2, 7, 56, 57, 58, 1000}) {
      const auto shuffled = range(n).shuffle(buffer, 3);
      CHECK(sorted(values(shuffled.iterate(0))) == first(n));
      CHECK(text(plain(range(n)).shuffle(buffer, 3)) == text(shuffled));
      CHECK(text(shuffled.batch(4).map([](tensor<std::int64_t> b) { return b; })) ==
            text(plain(range(n)).shuffle(buffer, 3).batch(4)));
    }
  }
  CHECK(text(range(9).shuffle(1, 3)) == text(range(9)));
}

TEST_CASE("a shuffle's order is fixed by the seed on every machine, and another for another seed") {
  CHECK(text(range(10).shuffle(10, 1)) == "5 4 8 0 6 2 9 1 3 7");
  CHECK(text(range(10).shuffle(3, 1)) == "1 3 4 0 6 5 7 8 9 2");
  CHECK(text(range(10).shuffle(10, 2)) != text(range(10).shuffle(10, 1)));
}

TEST_CASE("a whole shuffle is uniform: every element is met in every place about as often") {
  constexpr int n = 5, rounds = 20'000;
  int met[n][n] = {};
  const auto shuffled = range(n).shuffle(n, 11);
  for (int round = 0; round < rounds; ++round) {
    const auto order = values(shuffled.iterate());
    for (int i = 0; i < n; ++i) ++met[i][order[static_cast<std::size_t>(i)]];
  }
  for (const auto& row : met)
    for (const int count : row) CHECK(std::abs(count - rounds / n) < 300);  // five standard deviations
}

TEST_CASE("each pass is shuffled anew, by its number; so is each repetition") {
  const auto shuffled = range(20).shuffle(20, 1);
  const auto a = values(shuffled.iterate()), b = values(shuffled.iterate());
  CHECK(a != b);
  CHECK(values(shuffled.iterate(0)) == a);
  CHECK(values(shuffled.iterate(1)) == b);
  const auto twice = values(shuffled.repeat(2).iterate());
  CHECK(std::vector(twice.begin(), twice.begin() + 20) == a);
  CHECK(std::vector(twice.begin() + 20, twice.end()) != a);
  CHECK(sorted({twice.begin() + 20, twice.end()}) == first(20));
  const auto frozen = range(20).shuffle(20, 1, false);
  CHECK(text(frozen.iterate(5)) == text(frozen.iterate(0)));
}

TEST_CASE("a copy of a dataset goes on with its passes") {
  const auto shuffled = range(20).shuffle(20, 1);
  const auto copy = shuffled;
  CHECK(values(shuffled.iterate()) != values(copy.iterate()));
}

TEST_CASE("shards of one shuffle share all elements out") {
  std::vector<std::int64_t> all;
  for (int i = 0; i < 3; ++i) {
    const auto share = values(range(20).shuffle(20, 5).shard(3, i).iterate(4));
    all.insert(all.end(), share.begin(), share.end());
  }
  CHECK(sorted(all) == first(20));
}

TEST_CASE("a cache computes once, keeps only whole passes, and freezes the order before it") {
  auto calls = std::make_shared<int>(0);
  const auto kept = range(4).shuffle(4, 1).map([calls](std::int64_t i) { return ++*calls, i; }).cache();
  kept.iterate().next();
  CHECK(*calls == 1);
  const auto order = text(kept.iterate());
  CHECK(*calls == 5);
  CHECK(text(kept.iterate()) == order);
  CHECK(text(kept.repeat(2).iterate()) == order + " " + order);
  CHECK(*calls == 5);
}

TEST_CASE("an exception comes with its element, and ends the pass") {
  const auto failing = [](std::int64_t i) { return i == 2 ? throw std::runtime_error("two") : i; };
  for (const auto& d :
       {range(5).map(failing), range(5).map(failing).prefetch(1), range(5).map(failing, {.parallel = 3}),
        range(5).map(failing).shuffle(1), range(5).map(failing).repeat(2)}) {
    auto pass = d.iterate();
    CHECK(text(pass, 2) == "0 1");
    CHECK_THROWS_WITH(pass.next(), "two");
    CHECK_FALSE(pass.next());
  }
}

TEST_CASE("bad arguments are refused at once, with what would do") {
  const auto said = [](auto f) { return failure([&] { f(range(3)); }); };
  CHECK(said([](auto d) { d.batch(0); }) == "invalid_argument: batch takes a size of at least one element, not 0");
  CHECK(said([](auto d) { d.shuffle(0); }) ==
        "invalid_argument: shuffle takes a buffer of at least one element, not 0");
  CHECK(said([](auto d) { d.repeat(-2); }) ==
        "invalid_argument: repeat takes a number of times, or data::forever, not -2");
  CHECK(said([](auto d) { d.take(-1); }) == "invalid_argument: take takes a number of elements, not -1");
  CHECK(said([](auto d) { d.skip(-1); }) == "invalid_argument: skip takes a number of elements, not -1");
  CHECK(said([](auto d) { d.shard(2, 2); }) == "invalid_argument: there is no shard 2 of 2");
  CHECK(said([](auto d) { d.shard(0, 0); }) == "invalid_argument: there is no shard 0 of 0");
  CHECK(said([](auto d) { d.prefetch(0); }) == "invalid_argument: prefetch takes at least one element, not 0");
  CHECK(said([](auto d) { d.map([](auto x) { return x; }, {.parallel = 0}); }) ==
        "invalid_argument: map takes at least one thread, not 0");
}
