// Slices as NumPy has them, axes turned round and rolled: as a user writes them. The tables are Python's answers.
#include <catch2/catch.hpp>

#include <limits>
#include <optional>
#include <string>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

struct strided_fixture : own_graph {
  template <class... F>
  std::string text(const F&... fetches) {
    pn::session sess;
    std::string all;
    ((all += (all.empty() ? "" : "; ") + pn::to_string(sess.run(fetches))), ...);
    return all;
  }
  pn::expr<int> m = pn::constant<int>({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
};

}  // namespace

TEST_CASE_METHOD(strided_fixture, "a range of an axis takes what Python takes") {
  constexpr std::nullopt_t none = std::nullopt;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  struct line {
    std::optional<std::int64_t> begin, end;
    std::int64_t step;
    std::string text;
  };
  const std::vector<line> lines{
      {none, none, 1, "[0, 1, 2, 3, 4]"},
      {2, none, 1, "[2, 3, 4]"},
      {none, -1, 1, "[0, 1, 2, 3]"},
      {0, 5, 2, "[0, 2, 4]"},
      {1, none, 2, "[1, 3]"},
      {-2, none, 1, "[3, 4]"},
      {-100, 100, 1, "[0, 1, 2, 3, 4]"},
      {3, 1, 1, "[]"},
      {5, none, 1, "[]"},
      {none, none, -1, "[4, 3, 2, 1, 0]"},
      {none, none, -2, "[4, 2, 0]"},
      {4, 1, -1, "[4, 3, 2]"},
      {-1, -4, -2, "[4, 2]"},
      {1, none, -1, "[1, 0]"},
      {none, 2, -1, "[4, 3]"},
      {100, -100, -3, "[4, 1]"},
      {0, -6, -1, "[0]"},
      {1, 4, -1, "[]"},
      {-6, none, -1, "[]"},
      {none, none, 100, "[0]"},
      {2, 3, least, "[]"},
  };
  const pn::expr<int> x = pn::range(5);
  for (const line& l : lines) {
    CAPTURE(l.text);
    const auto y = pn::slice_at(x, pn::range_of(l.begin, l.end, l.step));
    CHECK(text(y) == l.text);
    CHECK(y.shape().known());
  }
}

TEST_CASE_METHOD(strided_fixture, "indices drop axes, and new axes and an ellipsis stand where they are written") {
  using pn::range_of;
  CHECK(text(pn::slice_at(m, 1)) == "[4, 5, 6, 7]");
  CHECK(text(pn::slice_at(m, -1, -2)) == "10");
  CHECK(text(pn::slice_at(m, range_of(), 3)) == "[3, 7, 11]");
  CHECK(text(pn::slice_at(m, range_of(-2), range_of({}, {}, -2))) == "[[7, 5], [11, 9]]");
  CHECK(text(pn::slice_at(m, pn::ellipsis, 0)) == "[0, 4, 8]");
  CHECK(text(pn::slice_at(m, 0u, pn::ellipsis, pn::new_axis)) == "[[0], [1], [2], [3]]");
  CHECK(text(pn::slice_at(m, pn::new_axis, pn::ellipsis)).substr(0, 6) == "[[[0, ");
  CHECK(pn::slice_at(m, 1, range_of(0, 3, 2), pn::ellipsis, pn::new_axis).shape() == pn::shape{2, 1});
  CHECK(pn::slice_at(m, pn::new_axis, range_of(3), pn::new_axis).shape() == pn::shape{1, 0, 1, 4});
  CHECK(pn::slice_at(m, 0, pn::ellipsis, 0).shape() == pn::shape{});
  CHECK(text(pn::slice_at(pn::constant(7), pn::ellipsis, pn::new_axis)) == "[7]");
  CHECK(text(pn::slice_at(pn::constant<std::string>({"a", "b", "c"}), range_of({}, {}, -1))) ==
        "[\"c\", \"b\", \"a\"]");
  const pn::node_id before = g.size();
  (void)pn::slice_at(m, 1, range_of(), pn::new_axis);
  CHECK(g.size() == before + 1);
}

TEST_CASE_METHOD(strided_fixture, "strided_slice heeds its masks as TensorFlow does") {
  CHECK(text(pn::strided_slice(m, {0, 3}, {2, 0}, {1, -2})) == "[[3, 1], [7, 5]]");
  CHECK(text(pn::strided_slice(m, {1}, {2})) == "[[4, 5, 6, 7]]");
  CHECK(text(pn::strided_slice(m, {1, 2}, {0, 0}, {1, 1}, {.end_mask = 3})) == "[[6, 7], [10, 11]]");
  CHECK(text(pn::strided_slice(m, {2, 2}, {2, 3}, {-1, 1}, {.begin_mask = 3, .end_mask = 1})) ==
        "[[8, 9, 10], [4, 5, 6], [0, 1, 2]]");
  CHECK(text(pn::strided_slice(m, {9, -2}, {9, 9}, {9, 1}, {.ellipsis_mask = 1, .shrink_axis_mask = 2})) ==
        "[2, 6, 10]");
  CHECK(text(pn::strided_slice(m, {0, 1, 1}, {0, 9, 3}, {0, 5, 1}, {.new_axis_mask = 1, .shrink_axis_mask = 3})) ==
        "[[5, 6]]");
}

TEST_CASE_METHOD(strided_fixture, "slices that do not fit are refused where they are written") {
  CHECK(failure([&] { pn::slice_at(m, 0, 4); }) ==
        "invalid_argument: index 4 along axis 1 of a tensor of shape [3, 4]: indices are in [-4, 4)");
  CHECK(failure([&] { pn::slice_at(m, -4); }).find("index -4 along axis 0") != std::string::npos);
  CHECK(failure([&] { pn::slice_at(m, 0, 0, pn::new_axis, 0); }) ==
        "invalid_argument: a slice takes 3 axes of a tensor of shape [3, 4], which has 2");
  CHECK(failure([&] { pn::slice_at(m, pn::range_of(0, 1, 0)); }).find("stride 0") != std::string::npos);
  CHECK(failure([&] { pn::slice_at(m, ~std::uint64_t{0}); }).find("is beyond every axis") != std::string::npos);
  CHECK(failure([&] { pn::slice_at(pn::constant(1), 0); }).find("which has 0") != std::string::npos);
  CHECK(failure([&] { pn::strided_slice(m, {0}, {1}, {1}, {.end_mask = 2}); }).find("end_mask 2") != std::string::npos);
}

TEST_CASE_METHOD(strided_fixture, "extents that are known only when it runs are checked then") {
  const auto x = pn::placeholder<float>({pn::unknown, 3}, "x");
  const auto y = pn::placeholder<float>(pn::shape::any(), "y");
  const auto last = pn::slice_at(x, -1), back = pn::slice_at(x, pn::range_of({}, {}, -1), 0);
  CHECK(last.shape() == pn::shape{3});
  CHECK(back.shape() == pn::shape{pn::unknown});
  CHECK(pn::slice_at(x, pn::range_of(1), pn::range_of(1)).shape() == pn::shape{pn::unknown, 2});
  CHECK_FALSE(pn::slice_at(y, 1).shape().has_rank());
  pn::session sess;
  CHECK(pn::to_string(sess.run({{x, {{1, 2, 3}, {4, 5, 6}}}}, last)) == "[4, 5, 6]");
  CHECK(pn::to_string(sess.run({{x, {{1, 2, 3}, {4, 5, 6}}}}, back)) == "[4, 1]");
  const auto second = pn::slice_at(x, 1);
  CHECK(failure([&] {
          sess.run({{x, {{1, 2, 3}}}}, second);
        }).find("index 1 along axis 0 of a tensor of shape [1, 3]: indices are in [-1, 1)") != std::string::npos);
  const auto pair = pn::slice_at(y, pn::ellipsis, 1, pn::new_axis);
  CHECK(pn::to_string(sess.run({{y, {{1, 2}, {3, 4}}}}, pair)) == "[[2], [4]]");
  const pn::expr<float> turned = pn::reverse(y, {0, -1}), moved = pn::roll(y, 1, 1);
  CHECK(failure([&] { sess.run({{y, {1, 2}}}, turned); }).find("axis 0") != std::string::npos);
  CHECK(failure([&] { sess.run({{y, {1, 2}}}, moved); }).find("axis 1") != std::string::npos);
}

TEST_CASE_METHOD(strided_fixture, "axes are turned round and rolled") {
  CHECK(text(pn::reverse(m, {0})) == "[[8, 9, 10, 11], [4, 5, 6, 7], [0, 1, 2, 3]]");
  CHECK(text(pn::slice_at(pn::reverse(m, {1, -2}), 0)) == "[11, 10, 9, 8]");
  CHECK(text(pn::roll(pn::range(5), 2, 0)) == "[3, 4, 0, 1, 2]");
  CHECK(text(pn::roll(m, {1, -1}, {0, 1})) == "[[9, 10, 11, 8], [1, 2, 3, 0], [5, 6, 7, 4]]");
  CHECK(text(pn::roll(m, {1, 1, -7}, {0, 0, 0})) == "[[8, 9, 10, 11], [0, 1, 2, 3], [4, 5, 6, 7]]");
  CHECK(text(pn::roll(pn::constant<std::string>({"a", "b", "c"}), {-1}, {0})) == "[\"b\", \"c\", \"a\"]");
  CHECK(failure([&] { pn::reverse(m, {0, -2}); }).find("turned round twice") != std::string::npos);
}

TEST_CASE_METHOD(strided_fixture, "paddings repeat elements as NumPy's do, and gradients add up over them") {
  const pn::expr<float> x = pn::constant<float>({1, 2, 3});
  const auto padded = [&](pn::pad_mode mode) { return pn::pad(x, {{2, 1}}, {.mode = mode}); };
  CHECK(text(padded(pn::pad_mode::constant)) == "[0, 0, 1, 2, 3, 0]");
  CHECK(text(padded(pn::pad_mode::reflect)) == "[3, 2, 1, 2, 3, 2]");
  CHECK(text(padded(pn::pad_mode::symmetric)) == "[2, 1, 1, 2, 3, 3]");
  CHECK(text(padded(pn::pad_mode::edge)) == "[1, 1, 1, 2, 3, 3]");
  CHECK(text(pn::pad(m, {{1, 0}, {0, 2}}, {.mode = pn::pad_mode::reflect})) ==
        "[[4, 5, 6, 7, 6, 5], [0, 1, 2, 3, 2, 1], [4, 5, 6, 7, 6, 5], [8, 9, 10, 11, 10, 9]]");
  CHECK(text(pn::pad(pn::constant<std::string>({"a", "b"}), {{1, 1}}, {.mode = pn::pad_mode::edge})) ==
        "[\"a\", \"a\", \"b\", \"b\"]");
  const pn::expr<float> weights = pn::constant<float>({1, 10, 100, 1000, 10000, 100000});
  const pn::expr<float> y = padded(pn::pad_mode::reflect);
  const auto [first] = pn::gradients(pn::reduce_sum(y * y * weights), x);
  const auto [second] = pn::gradients(pn::reduce_sum(first), x);
  CHECK(text(first) == "[200, 404040, 60006]");  // 2 w y: 6 1, 4 10, 2 100, 4 1000, 6 10000, 4 100000
  CHECK(text(second) == "[200, 202020, 20002]");
  CHECK(
      failure([&] {
        pn::pad(x, {{3, 0}}, {.mode = pn::pad_mode::reflect});
      }) ==
      "invalid_argument: a padding of 3 elements by mode REFLECT along axis 0 of a tensor of shape [3], which has too "
      "few to repeat");
  const auto open = pn::placeholder<float>({pn::unknown}, "open");
  const auto around = pn::pad(open, {{2, 0}}, {.mode = pn::pad_mode::symmetric});
  pn::session sess;
  CHECK(pn::to_string(sess.run({{open, {1, 2}}}, around)) == "[2, 1, 1, 2]");
  CHECK(failure([&] { sess.run({{open, {1}}}, around); }).find("a padding of 2 elements") != std::string::npos);
}

TEST_CASE_METHOD(strided_fixture, "gradients go to the elements that were taken, to the second order") {
  auto v = pn::variable(pn::constant<float>({{1, 2, 3}, {4, 5, 6}}));
  const auto taken = pn::slice_at(v, pn::range_of({}, {}, -1), pn::range_of(0, {}, 2));
  const auto [first] = pn::gradients(pn::reduce_sum(taken * taken * taken), v);
  const auto [second] = pn::gradients(pn::reduce_sum(first * pn::constant<float>({{1, 2, 3}, {4, 5, 6}})), v);
  const auto [turned] =
      pn::gradients(pn::reduce_sum(pn::reverse(v, {1}) * pn::constant<float>({{1, 2, 3}, {4, 5, 6}})), v);
  const auto [moved] =
      pn::gradients(pn::reduce_sum(pn::roll(v, 1, 1) * pn::constant<float>({{1, 2, 3}, {4, 5, 6}})), v);
  pn::session sess;
  sess.run(v.initializer());
  CHECK(pn::to_string(sess.run(first)) == "[[3, 0, 27], [48, 0, 108]]");
  CHECK(pn::to_string(sess.run(second)) == "[[6, 0, 54], [96, 0, 216]]");
  CHECK(pn::to_string(sess.run(turned)) == "[[3, 2, 1], [6, 5, 4]]");
  CHECK(pn::to_string(sess.run(moved)) == "[[2, 3, 1], [5, 6, 4]]");
}
