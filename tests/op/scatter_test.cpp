// Parts at indices of several numbers, and segments.
#include <catch2/catch.hpp>

#include <limits>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/kernel_bench.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::of;
using kernel_bench::random;
using kernel_bench::run;

using list = std::vector<double>;

attributes of_segments(std::int64_t n) {
  return {{"segments", n}};
}

// The numbers that a step yields.
template <class E>
list value_of(session& sess, std::initializer_list<feed> fed, const E& y) {
  return numbers(sess.run(fed, y).untyped());
}
template <class Y>
expr<float> derivative(const Y& y, const expr<float>& x) {
  return std::get<0>(gradients(y, x));
}

}  // namespace

TEST_CASE("parts are gathered at indices of as many numbers as they say") {
  const any_tensor x = of<float>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(numbers(run("GatherNd", {x, of<std::int32_t>({2, 3}, {1, 2, 0, 0, 0, 1})})[0]) == list{11, 2});
  CHECK(numbers(run("GatherNd", {x, of<std::int64_t>({2, 2}, {1, 0, 1, 0})})[0]) == list{7, 8, 7, 8});
  CHECK(run("GatherNd", {x, of<std::int64_t>({4, 1, 1}, {1, 0, 1, 0})})[0].shape() == shape{4, 1, 3, 2});
  CHECK(run("GatherNd", {x, of<std::int64_t>({5, 0}, {})})[0].shape() == shape{5, 2, 3, 2});
  CHECK(run("GatherNd", {x, of<std::int64_t>({0, 2}, {})})[0].shape() == shape{0, 2});
  CHECK(numbers(run("GatherNd", {of<float>({}, {4}), of<std::int32_t>({2, 0}, {})})[0]) == list{4, 4});
  const any_tensor texts(dtype::string, {2});
  texts.data<std::string>()[1] = "b";
  CHECK(run("GatherNd", {texts, of<std::int32_t>({1, 1}, {1})})[0].data<std::string>()[0] == "b");
}

TEST_CASE("updates of one index add up in their order, and integers wrap around") {
  const any_tensor ix = of<std::int32_t>({3, 2}, {1, 0, 0, 1, 1, 0});
  CHECK(numbers(run("ScatterNd", {ix, of<float>({3}, {1, 2, 3})}, {{"shape", shape{2, 2}}})[0]) == list{0, 2, 4, 0});
  CHECK(numbers(run("ScatterNd", {ix, of<std::uint8_t>({3}, {200, 2, 100})}, {{"shape", shape{2, 2}}})[0]) ==
        list{0, 2, 44, 0});
  const any_tensor same = of<std::int32_t>({3, 1}, {0, 0, 0}), parts = of<float>({3}, {1e8f, 1, -1e8f});
  CHECK(numbers(run("ScatterNd", {same, parts}, {{"shape", shape{1}}})[0]) == list{0});
  CHECK(numbers(run("ScatterNd", {of<std::int32_t>({2, 0}, {}), of<float>({2, 2}, {1, 2, 3, 4})},
                    {{"shape", shape{2}}})[0]) == list{4, 6});
  CHECK(numbers(run("ScatterNd", {of<std::int32_t>({0, 1}, {}), of<float>({0}, {})}, {{"shape", shape{2}}})[0]) ==
        list{0, 0});
  CHECK(run("ScatterNd", {of<std::int32_t>({0, 1}, {}), of<float>({0}, {})}, {{"shape", shape{0}}})[0].shape() ==
        shape{0});
}

TEST_CASE("an index outside of a tensor fails the step, which names all of its numbers and its position") {
  const any_tensor x = random<float>({2, 3}), one = random<float>({1});
  CHECK_THROWS_WITH(
      run("GatherNd", {x, of<std::int32_t>({2, 2}, {1, 2, 1, 3})}),
      Catch::Contains("index [1, 3] at position 1 is outside of a tensor whose first extents are [2, 3]"));
  CHECK_THROWS_WITH(run("GatherNd", {x, of<std::int64_t>({1, 1}, {-1})}), Catch::Contains("index [-1] at position 0"));
  CHECK_THROWS_WITH(run("ScatterNdLike", {of<std::int64_t>({1, 2}, {0, 3}), one, x}), Catch::Contains("index [0, 3]"));
  CHECK_THROWS_WITH(run("GatherNd", {random<float>({0, 2}), of<std::int32_t>({1, 1}, {0})}),
                    Catch::Contains("index [0] at position 0"));
  CHECK_THROWS_WITH(run("GatherNd", {random<float>({3, 0}), of<std::int32_t>({1, 1}, {3})}),
                    Catch::Contains("index [3] at position 0"));
}

TEST_CASE("rows fold into the segments that their ids name, and those of negative ids into none") {
  const any_tensor x = of<float>({4, 2}, {1, -2, 3, 4, 5, 6, 7, 8}), ids = of<std::int32_t>({4}, {2, 0, 2, -1});
  constexpr double most = std::numeric_limits<float>::max();
  CHECK(numbers(run("UnsortedSegmentSum", {x, ids}, of_segments(3))[0]) == list{3, 4, 0, 0, 6, 4});
  CHECK(numbers(run("UnsortedSegmentMax", {x, ids}, of_segments(3))[0]) == list{3, 4, -most, -most, 5, 6});
  CHECK(numbers(run("UnsortedSegmentMin", {x, ids}, of_segments(3))[0]) == list{3, 4, most, most, 1, -2});
  CHECK(numbers(run("UnsortedSegmentProd", {x, ids}, of_segments(3))[0]) == list{3, 4, 1, 1, 5, -12});
  CHECK(numbers(run("UnsortedSegmentMax", {of<std::uint8_t>({1}, {3}), of<std::int64_t>({1}, {1})},
                    of_segments(2))[0]) == list{0, 3});
  CHECK(run("UnsortedSegmentSum", {x, of<std::int64_t>({4}, {-1, -5, -1, -1})}, of_segments(0))[0].shape() ==
        shape{0, 2});
  CHECK_THROWS_WITH(run("UnsortedSegmentSum", {x, of<std::int32_t>({4}, {0, 3, -1, 7})}, of_segments(3)),
                    Catch::Contains("id 3 at position 1 is none of 3 segments"));
  CHECK_THROWS_WITH(run("GatherSegments", {x, of<std::int64_t>({2}, {-1, 4})}, of_segments(4)),
                    Catch::Contains("id 4 at position 1 is none of 4 segments"));
}

TEST_CASE("threads and streams change no bit of what is scattered and of segments") {
  const any_tensor like = random<float>({3000, 70}), rows = random<float>({9000, 70});
  any_tensor indices = random<std::int64_t>({9000});
  for (std::int64_t i = 0; i < 9000; ++i) indices.data<std::int64_t>()[i] = i * 7 % 2000;
  const any_tensor places =
      of<std::int64_t>({9000, 1}, {indices.data<std::int64_t>(), indices.data<std::int64_t>() + 9000});
  for (const int threads : {2, 3, 4}) {
    const kernel_bench::how h{.threads = threads};
    CHECK(run("ScatterNdLike", {places, rows, like})[0] == run("ScatterNdLike", {places, rows, like}, {}, h)[0]);
    CHECK(run("GatherNd", {like, places})[0] == run("GatherNd", {like, places}, {}, h)[0]);
    for (const char* op : {"UnsortedSegmentSum", "UnsortedSegmentProd"})
      CHECK(run(op, {rows, indices}, of_segments(2000))[0] == run(op, {rows, indices}, of_segments(2000), h)[0]);
  }
}

TEST_CASE("shapes that come with a step are checked by it") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x"), u = placeholder<float>(shape::any(), "u");
  auto ix = placeholder<int>(shape::any(), "ix");
  const auto picked = gather_nd(x, ix);
  const auto made = scatter_nd(ix, u, {3, 2});
  const auto sums = segment_sum(x, ix, {.segments = 2});
  const auto matrix = tensor<float>::of({{1, 2}, {3, 4}, {5, 6}});
  CHECK(value_of(f.sess, {{x, matrix}, {ix, tensor<int>::of({{2, 1}, {0, 0}})}}, picked) == list{6, 1});
  CHECK(value_of(f.sess, {{x, matrix}, {ix, tensor<int>::of({1})}}, picked) == list{3, 4});
  CHECK(value_of(f.sess, {{u, tensor<float>::of({7, 8})}, {ix, tensor<int>::of({{2, 1}, {2, 1}})}}, made) ==
        list{0, 0, 0, 0, 0, 15});
  CHECK(value_of(f.sess, {{x, matrix}, {ix, tensor<int>::of({1, -1, 1})}}, sums) == list{0, 0, 6, 8});
  CHECK(value_of(f.sess, {{x, matrix}, {ix, tensor<int>::of({1, -1, 1})}}, segment_mean(x, ix, {.segments = 2})) ==
        list{0, 0, 3, 4});
  const auto says = [&](const auto& y, const tensor<float>& a, const tensor<int>& b, const char* text) {
    return refusal([&] { f.sess.run({{x, a}, {u, a}, {ix, b}}, y); }, errc::invalid_argument, text);
  };
  CHECK(says(picked, matrix, tensor<int>(1), "a scalar has none") == "");
  CHECK(says(picked, matrix, tensor<int>::of({1, 1, 1}), "have 3 numbers each") == "");
  CHECK(says(made, matrix, tensor<int>::of({{1, 1}}), "they would have shape [1]") == "");
  CHECK(says(sums, matrix, tensor<int>::of({1, 1}), "each row has one id") == "");
  CHECK(says(sums, tensor<float>(1.f), tensor<int>::of({1, 1}), "a scalar has none") == "");
}

TEST_CASE("gather_nd and scatter_nd are each the gradient of the other, to any order") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x");
  const auto ix = constant<int>({{1, 0}, {0, 1}, {1, 0}});
  const auto y = gather_nd(x, ix);
  const auto dx = derivative(y * y * y, x);
  const auto dxx = derivative(dx, x);
  const auto at = tensor<float>::of({{1, 2}, {3, 4}});
  CHECK(value_of(f.sess, {{x, at}}, dx) == list{0, 12, 54, 0});  // 3 x^2, twice at 3
  CHECK(value_of(f.sess, {{x, at}}, dxx) == list{0, 12, 36, 0});
  const auto s = scatter_nd(ix, y, {2, 2});
  const auto ds = derivative(s * s, x);  // (2 x)^2 at 3, x^2 at 2
  CHECK(value_of(f.sess, {{x, at}}, ds) == list{0, 4, 24, 0});
}

TEST_CASE("the gradient of a sum or mean goes to the rows of its segment, and none to those that were dropped") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x");
  const auto ids = constant<int>({1, -1, 1, 0});
  const expr<float> sum = segment_sum(x, ids, {.segments = 3}), mean = segment_mean(x, ids, {.segments = 3});
  const auto ds = derivative(sum * sum, x);
  const auto at = tensor<float>::of({1, 2, 3, 4});
  CHECK(value_of(f.sess, {{x, at}}, mean) == list{4, 2, 0});
  CHECK(value_of(f.sess, {{x, at}}, ds) == list{8, 0, 8, 8});
  CHECK(value_of(f.sess, {{x, at}}, derivative(ds, x)) == list{4, 0, 4, 2});
  CHECK(value_of(f.sess, {{x, at}}, derivative(mean * mean, x)) == list{2, 0, 2, 8});
}

TEST_CASE("elements that are the extreme of their segment share its gradient, and others have none") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x");
  const auto ids = constant<int>({1, -1, 1, 0, 1});
  const expr<float> most = segment_max(x, ids, {.segments = 3}), least = segment_min(x, ids, {.segments = 3});
  const auto at = tensor<float>::of({3, 0, 3, 4, 1});
  const auto d = derivative(most * most, x);
  CHECK(value_of(f.sess, {{x, at}}, d) == list{3, 0, 3, 8, 0});
  CHECK(value_of(f.sess, {{x, at}}, derivative(most, x)) == list{.5, 0, .5, 1, 0});
  CHECK(value_of(f.sess, {{x, at}}, derivative(least, x)) == list{0, 0, 0, 1, 1});
  CHECK(value_of(f.sess, {{x, at}}, derivative(d, x)) == list{1, 0, 1, 2, 0});
}

TEST_CASE("the derivatives of a product are right beside zeros") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x");
  const auto ids = constant<int>({1, -1, 1, 0, 1, 3, 3});
  const auto d = derivative(segment_prod(x, ids, {.segments = 4}), x);
  const auto at = tensor<float>::of({0, 5, 3, 4, 2, 0, 0}), others = tensor<float>::of({2, 5, 3, 4, 0, 7, 0});
  CHECK(value_of(f.sess, {{x, at}}, d) == list{6, 0, 0, 1, 0, 0, 0});
  CHECK(value_of(f.sess, {{x, others}}, d) == list{0, 0, 0, 1, 6, 0, 7});
  CHECK(value_of(f.sess, {{x, at}}, derivative(d, x)) == list{5, 0, 2, 0, 3, 1, 1});  // sums of rows of the Hessian
}
