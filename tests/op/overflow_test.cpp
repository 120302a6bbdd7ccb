// Extents that multiply beyond what is counted are refused with a sentence; integers that do wrap. Meant to be run with
// the undefined behaviour sanitizer, too.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <limits>

#include <support/caught.hpp>
#include <support/own_session.hpp>
#include <support/tensor_text.hpp>

namespace {

namespace pn = pinion;

constexpr std::int64_t huge = std::int64_t{1} << 40;
constexpr auto int_max = std::numeric_limits<std::int32_t>::max();
constexpr auto long_max = std::numeric_limits<std::int64_t>::max();
constexpr auto long_min = std::numeric_limits<std::int64_t>::min();

// "" where building it is refused because of its size, at the caller's line.
template <class F>
std::string too_large(F&& build, int line = __builtin_LINE()) {
  const auto e = caught(build);
  const std::string text = e.what();
  const bool says = text.find("no memory holds") != text.npos || text.find("reaches further than") != text.npos;
  return says && line_of(e) == here(line) ? "" : text;
}

TEST_CASE("the elements of a shape are counted, or refused with it") {
  CHECK(pn::shape({huge, 1 << 20}).count() == std::int64_t{1} << 60);
  CHECK(pn::shape({huge, huge, 0}).count() == 0);
  CHECK(pn::shape({huge, pn::unknown, huge}).count() == pn::unknown);
  CHECK(failure([] {
          return pn::shape({huge, huge}).count();
        }) == "resource_exhausted: no memory holds a tensor of shape [1099511627776, 1099511627776]");
  static_assert(pn::shape({1 << 20, 1 << 20}).count() == std::int64_t{1} << 40);
}

TEST_CASE("a node whose result no memory holds is refused where it is made") {
  own_session s;
  const auto column = pn::placeholder<float>({huge, 1}, "column"), row = pn::placeholder<float>({1, huge}, "row");
  const auto indices = pn::placeholder<int>({huge}, "indices");
  const auto e = caught([&] { pn::matmul(column, row, {.name = "y"}); });
  CHECK(std::string(to_string(e.code())) + ": " + e.sentence() ==
        "resource_exhausted: it yields a tensor of shape [1099511627776, 1099511627776], which no memory holds");
  CHECK((e.node() + " " + line_of(e)) == "y " + here(__LINE__ - 3));
  CHECK(caught([&] { column + row; }).code() == pn::errc::resource_exhausted);  // operators have no line of their own
  CHECK(too_large([&] { pn::placeholder<float>({huge, huge}); }) == "");
  CHECK(too_large([&] { pn::reshape(column, {huge, huge, -1}); }) == "");
  CHECK(too_large([&] { pn::tile(column, {1, huge}); }) == "");
  CHECK(too_large([&] { pn::tile(column, {huge, 1}); }) != "");  // refused by its axis, in words of its own
  CHECK(too_large([&] { pn::pad(column, {{0, 0}, {huge, huge}}); }) == "");
  CHECK(too_large([&] { pn::one_hot<float>(indices, huge); }) == "");
  CHECK(too_large([&] { pn::random_uniform<float>({huge, huge}); }) == "");
  CHECK(too_large([&] { pn::gather(column, pn::reshape(indices, {huge, 1}), {.axis = 1}); }) == "");
}

TEST_CASE("many large tensors, one behind the other, are refused together") {
  own_session s;
  const auto x = pn::placeholder<float>({std::int64_t{1} << 55}, "x");
  std::vector<pn::expr<float>> parts(300, x);
  CHECK(too_large([&] { pn::concat(parts, 0); }) == "");
}

TEST_CASE("windows that reach further than any image are refused") {
  own_session s;
  const auto images = pn::placeholder<float>({1, 8, 8, 1}), filters = pn::placeholder<float>({huge, 1, 1, 1});
  CHECK(too_large([&] { pn::conv2d(images, filters, {.dilations = {1 << 20, 1}}); }) == "");
}

TEST_CASE("a range of more numbers than are counted is refused, not empty or unknown") {
  own_session s;
  CHECK(too_large([&] { pn::range<std::int64_t>(long_min, long_max); }) == "");
  CHECK(too_large([&] { pn::range<std::int64_t>(long_min, long_max, 2); }) == "");
  CHECK(too_large([&] { pn::range<double>(0, 1e30); }) == "");
  const pn::tensor<std::int64_t> wide = s.sess.run(pn::range<std::int64_t>(long_min, long_max, std::int64_t{1} << 62));
  CHECK((wide.size() == 4 && wide(3) == std::int64_t{1} << 62));
}

TEST_CASE("a slice from the smallest number on is refused") {
  own_session s;
  const auto x = pn::placeholder<float>({4}, "x");
  CHECK(caught([&] { pn::slice(x, {long_min}, {-1}); }).code() == pn::errc::invalid_argument);
}

TEST_CASE("plans add up the bytes of many large tensors without running over") {
  own_session s;
  pn::operation all = pn::no_op();
  for (int k = 0; k < 40; ++k) {
    const auto v = pn::variable(pn::random_uniform<double>({std::int64_t{1} << 55}));
    all = pn::group(all, v.initializer());
  }
  const pn::plan plan = s.sess.plan(all);
  CHECK(plan.totals()[0].variables == long_max);
}

TEST_CASE("products of integers wrap") {
  own_session s;
  const auto a = pn::placeholder<std::int32_t>({1, 2}, "a");
  const auto b = pn::placeholder<std::int32_t>({2, 1}, "b");
  const pn::tensor<std::int32_t> y = s.sess.run(
      {{a, pn::tensor<std::int32_t>::of({{int_max, int_max}})}, {b, pn::tensor<std::int32_t>::of({{int_max}, {2}})}},
      pn::matmul(a, b));
  CHECK(y(0, 0) == -1);  // 1 - 2, of 2^32
  const auto c = pn::placeholder<std::int64_t>({1, 1}, "c");
  CHECK(std::int64_t(s.sess.run({{c, pn::tensor<std::int64_t>::of({{long_max}})}}, pn::matmul(c, c))) == 1);
}

TEST_CASE("sums of integers wrap, in reductions, maps and gathered rows") {
  own_session s;
  const auto x = pn::placeholder<std::int32_t>({3}, "x");
  const pn::tensor<std::int32_t> most({3}, std::vector<std::int32_t>{int_max, int_max, int_max});
  const auto fed = [&](const auto& y) { return pn::to_string(s.sess.run({{x, most}}, y)); };
  CHECK(fed(pn::reduce_sum(x)) == "2147483645");
  CHECK(fed(pn::reduce_prod(x)) == "2147483647");
  CHECK(fed(x + x) == "[-2, -2, -2]");
  CHECK(fed(x * x + 1) == "[2, 2, 2]");
  CHECK(fed(-(x + 1)) == "[-2147483648, -2147483648, -2147483648]");
  CHECK(fed(pn::abs(x + 1)) == "[-2147483648, -2147483648, -2147483648]");
  CHECK(fed((x + 1) / -1) == "[-2147483648, -2147483648, -2147483648]");
}

TEST_CASE("an integer variable wraps when it is added to") {
  own_session s;
  const auto v = pn::variable(std::int64_t{long_max}, {.name = "v"});
  s.sess.run(v.initializer());
  CHECK(std::int64_t(s.sess.run(pn::assign_add(v, std::int64_t{1}))) == long_min);
}

}  // namespace
