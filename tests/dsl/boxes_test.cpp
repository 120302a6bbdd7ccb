// Slices, concatenations, paddings, tiles, ranges, one-hot rows: as a user writes them.
#include <catch2/catch.hpp>

#include <cmath>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

struct fresh_graph : own_graph {
  template <class... F>
  std::string text(const F&... fetches) {
    pn::session sess;
    std::string all;
    ((all += (all.empty() ? "" : "; ") + pn::to_string(sess.run(fetches))), ...);
    return all;
  }
};

}  // namespace

TEST_CASE("expressions of any kind are put one behind the other") {
  fresh_graph f;
  auto m = pn::constant<float>({{1, 2}, {3, 4}});
  CHECK(f.text(pn::concat({m, m + 1.0f, 2 * m}, 1)) == "[[1, 2, 2, 3, 2, 4], [3, 4, 4, 5, 6, 8]]");
  CHECK(f.text(pn::concat({m, m})) == "[[1, 2], [3, 4], [1, 2], [3, 4]]");
  std::vector<pn::expr<float>> some{m, m, m};
  CHECK(f.text(pn::reduce_sum(pn::concat(some, -1))) == "30");
  CHECK(f.text(pn::stack({m, -m}, 1)) == "[[[1, 2], [-1, -2]], [[3, 4], [-3, -4]]]");
  auto words = pn::constant<std::string>({"a", "b"});
  CHECK(f.text(pn::concat({words, words})) == "[\"a\", \"b\", \"a\", \"b\"]");
  CHECK(failure([&] { pn::concat(std::vector<pn::expr<float>>{}); }) ==
        "invalid_argument: concat was given no tensors");
  pn::graph other;
  const auto elsewhere = [&] {
    auto use = other.as_default();
    return pn::expr<float>(pn::constant(1.0f, "far"));
  }();
  CHECK(failure([&] { pn::concat({m, elsewhere}); }).find("another graph") != std::string::npos);
}

TEST_CASE("a tensor is cut, sliced, padded and repeated") {
  fresh_graph f;
  auto m = pn::constant<int>({{1, 2, 3, 4}, {5, 6, 7, 8}});
  auto [p, q] = pn::split<2>(m, 1);
  CHECK(f.text(p, q) == "[[1, 2], [5, 6]]; [[3, 4], [7, 8]]");
  CHECK(q.name() == "split:1");
  CHECK(f.text(pn::slice(m, {0, 1}, {1, -1})) == "[[2, 3, 4]]");
  CHECK(f.text(pn::pad(p, {{1, 0}, {0, 1}})) == "[[0, 0, 0], [1, 2, 0], [5, 6, 0]]");
  CHECK(f.text(pn::pad(p, {{0, 0}, {1, 0}}, {.value = 9})) == "[[9, 1, 2], [9, 5, 6]]");
  CHECK(f.text(pn::tile(p, {1, 2})) == "[[1, 2, 1, 2], [5, 6, 5, 6]]");
  CHECK(f.text(pn::squeeze(pn::expand_dims(p, 0))) == "[[1, 2], [5, 6]]");
}

TEST_CASE("shapes that are known only when it runs are checked then, and say so") {
  fresh_graph f;
  auto x = pn::placeholder<float>({pn::unknown, 3}, "x");
  auto halves = pn::split<2>(x, 0);
  auto part = pn::slice(x, {1, 0}, {2, 3});
  pn::session sess;
  CHECK(pn::to_string(sess.run({{x, {{1, 2, 3}, {4, 5, 6}}}}, halves[1])) == "[[4, 5, 6]]");
  const auto e = caught([&] { sess.run({{x, {{1, 2, 3}}}}, halves[0]); });
  CHECK(e.sentence() == "axis 0 of a tensor of shape [1, 3] is not cut into 2 equal parts");
  CHECK(e.node() == "split");
  CHECK(failure([&] {
          sess.run({{x, {{1, 2, 3}}}}, part);
        }).find("a slice of 2 from 1 on along axis 0") != std::string::npos);
}

TEST_CASE("ranges count as C++ loops do, and one-hot rows stand beside them") {
  fresh_graph f;
  CHECK(f.text(pn::range<int>(0, 10, 2), pn::range<int>(3), pn::range<int>(3, 0, -2)) ==
        "[0, 2, 4, 6, 8]; [0, 1, 2]; [3, 1]");
  CHECK(f.text(pn::range(0.0f, 1.0f, 0.25f)) == "[0, 0.25, 0.5, 0.75]");
  CHECK(pn::range<int>(0, 10, 3).shape() == pn::shape{4});
  CHECK(failure([] { pn::range<int>(0, 1, 0); }) == "invalid_argument: a range in steps of 0 never ends");
  CHECK(failure([] { pn::range<float>(0, NAN); }) ==
        "invalid_argument: a range of NaN has no elements: 'limit' is NaN");
  CHECK(f.text(pn::one_hot<float>(pn::constant<int>({1, 3, -1}), 3)) == "[[0, 1, 0], [0, 0, 0], [0, 0, 0]]");
  auto x = pn::placeholder<float>({pn::unknown, 3});
  pn::session sess;
  CHECK(pn::to_string(sess.run({{x, {{1, 2, 3}}}}, pn::shape_of(x))) == "[1, 3]");
}

TEST_CASE("a gather takes indices along any axis, and its gradient adds up what was taken twice") {
  fresh_graph f;
  auto m = pn::variable(pn::constant<float>({{1, 2, 3}, {4, 5, 6}}));
  auto y = pn::gather(m, pn::constant<int>({2, 0, 2}), {.axis = 1});
  auto [g] = pn::gradients(pn::reduce_sum(y * y), m);
  pn::session sess;
  sess.run(m.initializer());
  CHECK(pn::to_string(sess.run(y)) == "[[3, 1, 3], [6, 4, 6]]");
  CHECK(pn::to_string(sess.run(g)) == "[[2, 0, 12], [8, 0, 24]]");
}
