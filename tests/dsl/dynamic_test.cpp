// Shapes, boxes, parts and multiples that are values of the run, as a user writes them. The tables are TensorFlow's.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include <pinion/op/dynamic/batch_gather.hpp>
#include <pinion/op/dynamic/functions.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

struct dynamic_fixture : own_graph {
  using extents = std::vector<int>;

  pn::expr<float> x = pn::placeholder<float>(pn::shape::any(), "x");
  pn::expr<int> n = pn::placeholder<int>(pn::shape::any(), "n"), k = pn::placeholder<int>(pn::shape::any(), "k");
  pn::expr<int> m = pn::constant<int>({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  pn::session sess;

  static pn::tensor<int> vector(const extents& of) { return pn::tensor<int>::of(of); }
  template <class F>
  std::string text(const F& fetch, const pn::tensor<int>& of_n = pn::tensor<int>(0),
                   const pn::tensor<int>& of_k = pn::tensor<int>(0)) {
    return pn::to_string(sess.run({{n, of_n}, {k, of_k}}, fetch));
  }
  template <class F>
  std::string fails(const F& fetch, const pn::tensor<int>& of_n, const std::string& says,
                    const pn::tensor<int>& of_k = pn::tensor<int>(0)) {
    return refusal([&] { text(fetch, of_n, of_k); }, pn::errc::invalid_argument, says);
  }
};

}  // namespace

TEST_CASE_METHOD(dynamic_fixture, "a reshape takes the shape that its numbers have in the run") {
  const auto y = pn::reshape(m, n);
  CHECK(text(pn::shape_of(y), vector({2, 6})) == text(pn::constant<int>({2, 6})));
  CHECK(text(pn::shape_of(y), vector({2, -1, 3})) == text(pn::constant<int>({2, 2, 3})));
  CHECK(text(y, vector({12})) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]");
  CHECK(fails(y, vector({5, -1}), "do not fill the shape [5, ?]") == "");
  CHECK(fails(y, vector({-2, 6}), "an extent of -2") == "");
  CHECK(fails(y, vector({-1, -1}), "more than one -1") == "");
  CHECK(fails(y, pn::tensor<int>(12), "it is a vector") == "");
}

TEST_CASE_METHOD(dynamic_fixture, "what constants and shapes tell of a shape is known when the graph is built") {
  const auto open = pn::placeholder<float>({pn::unknown, 6}, "open");
  CHECK(pn::reshape(m, pn::constant<int>({2, -1})).shape() == pn::shape{2, 6});
  CHECK(pn::reshape(open, pn::shape_of(open)).shape() == pn::shape{pn::unknown, 6});
  const auto rows = pn::slice_at(pn::shape_of(open), 0);
  const auto split_up = pn::reshape(open, pn::stack<int>({rows, pn::constant(2), pn::constant(3)}));
  CHECK(split_up.shape() == pn::shape{pn::unknown, 2, 3});
  CHECK(pn::zeros<float>(pn::concat<int>({pn::shape_of(m), pn::constant<int>({5})})).shape() == pn::shape{3, 4, 5});
  CHECK(pn::slice(m, n, {2, -1}).shape() == pn::shape{2, pn::unknown});
  CHECK(pn::slice(m, pn::constant<int>({1, 1}), pn::constant<std::int64_t>({-1, 2})).shape() == pn::shape{2, 2});
  CHECK(pn::tile(m, pn::constant<int>({2, 1})).shape() == pn::shape{6, 4});
  CHECK(pn::broadcast_to(open, n).shape() == pn::shape::any());
  const auto count = pn::placeholder<int>({}, "count");
  CHECK(pn::broadcast_to(open, pn::stack<int>({count, rows, pn::constant(6)})).shape() ==
        pn::shape{pn::unknown, pn::unknown, 6});
  CHECK(pn::range(pn::constant(2), 9, 3).shape() == pn::shape{3});
  CHECK(pn::split<2>(m, pn::constant<int>({1, -1}), 1)[1].shape() == pn::shape{3, 3});
  CHECK(refusal([&] { pn::reshape(m, pn::constant<int>({5})); }, pn::errc::invalid_argument, "do not fill") == "");
  CHECK(refusal([&] { pn::tile(m, pn::constant<int>({-1, 1})); }, pn::errc::invalid_argument, "-1 times") == "");
  CHECK(refusal(
            [&] {
              pn::split<2>(m, pn::constant<int>({1, 2}), 1);
            },
            pn::errc::invalid_argument, "parts of 3 elements in all of an axis of 4") == "");
}

TEST_CASE_METHOD(dynamic_fixture, "a box begins and ends where numbers of the run say") {
  const auto y = pn::slice(m, n, k);
  CHECK(text(y, vector({1, 2}), vector({2, 1})) == text(pn::slice(m, {1, 2}, {2, 1})));
  CHECK(text(y, vector({0, 1}), vector({-1, -1})) == text(pn::slice(m, {0, 1}, {-1, -1})));
  CHECK(text(pn::shape_of(pn::slice(m, {3, 4}, k)), {}, vector({0, -1})) == "[0, 0]");
  CHECK(fails(y, vector({2, 0}), "a slice of 2 from 2 on along axis 0", vector({2, 1})) == "");
  CHECK(fails(y, vector({9, 0}), "from 9 on along axis 0", vector({-1, 1})) == "");
  CHECK(fails(y, vector({-1, 0}), "a slice begins at -1", vector({1, 1})) == "");
  CHECK(fails(y, vector({0, 0}), "a slice of -2 elements", vector({1, -2})) == "");
  CHECK(fails(y, vector({0}), "Slice has 1 beginnings", vector({1, 1})) == "");
}

TEST_CASE_METHOD(dynamic_fixture, "a slice with strides takes its bounds from the run") {
  CHECK(text(pn::strided_slice(m, n, k), vector({1, -2}), vector({3, 4})) ==
        text(pn::strided_slice(m, {1, -2}, {3, 4})));
  const auto last = pn::strided_slice(pn::slice_at(m, 0), -n, n, {.end_mask = 1});
  CHECK(text(last, vector({2})) == "[2, 3]");
  const auto row = pn::strided_slice(m, n, n, {.shrink_axis_mask = 1});
  CHECK(row.shape() == pn::shape{pn::unknown});
  CHECK(text(row, vector({-1})) == "[8, 9, 10, 11]");
  CHECK(text(pn::strided_slice(pn::slice_at(m, 1), n, k, pn::constant<std::int64_t>({-2})), vector({3}),
             vector({-9})) == "[7, 5]");
  CHECK(fails(row, vector({3}), "index 3 along axis 0") == "");
  CHECK(fails(pn::strided_slice(m, n, k, n), vector({0}), "stride 0", vector({2})) == "");
  CHECK(fails(row, vector(extents(40, 1)), "a slice of 40 entries; it has at most 17") == "");
}

TEST_CASE_METHOD(dynamic_fixture, "parts have the sizes of the run, and one of them is the rest") {
  const auto [a, b, c] = pn::split<3>(m, n, 1);
  const auto sizes = pn::concat<int>({pn::shape_of(a), pn::shape_of(b), pn::shape_of(c)});
  CHECK(text(sizes, vector({1, 0, 3})) == "[3, 1, 3, 0, 3, 3]");
  CHECK(text(sizes, vector({1, -1, 1})) == "[3, 1, 3, 2, 3, 1]");
  CHECK(text(c, vector({2, 1, 1})) == text(pn::slice(m, {0, 3}, {-1, 1})));
  CHECK(fails(c, vector({2, 1, 2}), "parts of 5 elements in all of an axis of 4") == "");
  CHECK(fails(c, vector({-1, -1, 2}), "a part of -1 elements") == "");
  CHECK(fails(c, vector({2, 2}), "into 3 parts has 2 sizes") == "");
  const std::vector<pn::expr<int>> parts = pn::split(m, pn::constant<int>({2, 1}));
  REQUIRE(parts.size() == 2);
  CHECK(text(parts[1]) == "[[8, 9, 10, 11]]");
  CHECK(refusal([&] { pn::split(m, n); }, pn::errc::invalid_argument, "split by 'n'", "a known extent") == "");
}

TEST_CASE_METHOD(dynamic_fixture, "a tensor is repeated and filled to extents of the run") {
  CHECK(text(pn::tile(pn::slice_at(m, 0), n), vector({2})) == "[0, 1, 2, 3, 0, 1, 2, 3]");
  CHECK(text(pn::shape_of(pn::tile(m, n)), vector({0, 2})) == "[0, 8]");
  CHECK(text(pn::broadcast_to(pn::slice_at(m, 0), n), vector({2, 4})) == "[[0, 1, 2, 3], [0, 1, 2, 3]]");
  CHECK(text(pn::fill(n, 7), vector({2, 2})) == "[[7, 7], [7, 7]]");
  CHECK(text(pn::fill(n, pn::slice_at(m, 1, 1)), vector({3})) == "[5, 5, 5]");
  CHECK(text(pn::ones<int>(n), vector({2})) == "[1, 1]");
  CHECK(text(pn::shape_of(pn::zeros<std::string>(n)), vector({0, 3})) == "[0, 3]");
  CHECK(text(pn::fill(n, 7), vector({})) == "7");
  CHECK(fails(pn::tile(m, n), vector({1, -1}), "not repeated -1 times") == "");
  CHECK(fails(pn::fill(n, 7), vector({-1}), "not repeated to an extent of -1") == "");
  CHECK(fails(pn::broadcast_to(m, n), vector({4}), "does not broadcast to [4]") == "");
}

TEST_CASE_METHOD(dynamic_fixture, "a range has the ends of the run") {
  CHECK(text(pn::range(n), pn::tensor<int>(3)) == "[0, 1, 2]");
  CHECK(text(pn::range(1, n, 2), pn::tensor<int>(6)) == "[1, 3, 5]");
  CHECK(text(pn::range(n, 0, k), pn::tensor<int>(3), pn::tensor<int>(-1)) == "[3, 2, 1]");
  CHECK(text(pn::range(n, 0), pn::tensor<int>(3)) == "[]");
  CHECK(text(pn::range(pn::cast<float>(n), 2, .5f), pn::tensor<int>(1)) == "[1, 1.5]");
  CHECK(fails(pn::range(0, n, k), pn::tensor<int>(3), "steps of 0") == "");
  CHECK(fails(pn::range(n), vector({3}), "it is a scalar") == "");
}

TEST_CASE_METHOD(dynamic_fixture, "a grid is made of its axes") {
  const auto a = pn::constant<int>({0, 1, 2});
  const auto b = pn::constant<float>({.5f, 1.5f});
  const auto [across, down] = pn::meshgrid(a, b);
  CHECK(across.shape() == pn::shape{2, 3});
  CHECK(text(across) == "[[0, 1, 2], [0, 1, 2]]");
  CHECK(text(down) == "[[0.5, 0.5, 0.5], [1.5, 1.5, 1.5]]");
  const auto [i, j] = pn::meshgrid(a, b, {.indexing = pn::mesh_indexing::ij});
  CHECK(text(i) == "[[0, 0], [1, 1], [2, 2]]");
  CHECK(text(j) == "[[0.5, 1.5], [0.5, 1.5], [0.5, 1.5]]");
  CHECK(text(pn::meshgrid(n, n).second, vector({1, 2})) == "[[1, 1], [2, 2]]");
}

TEST_CASE_METHOD(dynamic_fixture, "each tensor of a batch is gathered by indices of its own") {
  const auto at = pn::constant<int>({{2, 0}, {1, 1}, {3, 2}});
  CHECK(pn::batch_gather(m, at).shape() == pn::shape{3, 2});
  CHECK(text(pn::batch_gather(m, at)) == "[[2, 0], [5, 5], [11, 10]]");
  CHECK(text(pn::batch_gather(pn::reshape(m, {3, 2, 2}), pn::constant<std::int64_t>({{1}, {0}, {1}}))) ==
        "[[[2, 3]], [[4, 5]], [[10, 11]]]");
  const auto few = pn::placeholder<int>({pn::unknown}, "few");
  CHECK(pn::to_string(sess.run({{few, vector({3, 0})}}, pn::batch_gather(pn::slice_at(m, 1), few))) == "[7, 4]");
  const auto open = pn::placeholder<int>({pn::unknown, pn::unknown}, "open");
  const auto [dx] = pn::gradients(pn::square(pn::batch_gather(x, open)), x);
  const auto got =
      sess.run({{x, pn::tensor<float>::of({{1, 2}, {3, 4}})}, {open, pn::tensor<int>::of({{1}, {1}})}}, dx);
  CHECK(pn::to_string(got) == "[[0, 4], [0, 8]]");
  CHECK(refusal([&] { pn::batch_gather(m, pn::placeholder<int>()); }, pn::errc::invalid_argument, "a known rank") ==
        "");
}

TEST_CASE_METHOD(dynamic_fixture, "gradients have the shapes of the run") {
  const auto value = pn::tensor<float>::of({{1, 2, 3}, {4, 5, 6}});
  const auto gradient_of = [&](const pn::expr<float>& y) {
    const auto [dx] = pn::gradients(y * y, x);
    return [&, dx = pn::expr<float>(dx)](const extents& of_n, const extents& of_k = {}) {
      return pn::to_string(sess.run({{x, value}, {n, vector(of_n)}, {k, vector(of_k)}}, dx));
    };
  };
  CHECK(gradient_of(pn::reshape(x, n))({3, -1}) == "[[2, 4, 6], [8, 10, 12]]");
  CHECK(gradient_of(pn::slice(x, n, k))({0, 1}, {1, -1}) == "[[0, 4, 6], [0, 0, 0]]");
  CHECK(gradient_of(pn::strided_slice(x, n, k))({1, -1}, {2, 3}) == "[[0, 0, 0], [0, 0, 12]]");
  CHECK(gradient_of(pn::split<2>(x, n, 1)[0])({1, -1}) == "[[2, 0, 0], [8, 0, 0]]");
  CHECK(gradient_of(pn::tile(x, n))({1, 2}) == "[[4, 8, 12], [16, 20, 24]]");
  CHECK(gradient_of(pn::broadcast_to(x, n))({2, 2, 3}) == "[[4, 8, 12], [16, 20, 24]]");
  CHECK(gradient_of(pn::fill(n, pn::slice_at(x, 0, 1)))({3}) == "[[0, 12, 0], [0, 0, 0]]");
}

TEST_CASE_METHOD(dynamic_fixture, "under a guard for a GPU the numbers are read on the CPU of its task") {
  pn::session with_gpu{{.allow_soft_placement = false, .simulated = {pn::sim::gpu()}}};
  const auto y = [&] {
    const pn::device on{"/gpu:0"};
    return pn::expr<float>(pn::reshape(x, n) * 2.f);
  }();
  CHECK(pn::to_string(with_gpu.run({{x, {{1, 2}, {3, 4}}}, {n, vector({4})}}, y)) == "[2, 4, 6, 8]");
}
