// Updates of parts of variables at indices, as a user writes them. The tables are TensorFlow's.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include <pinion/op/rows/functions.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

struct rows_fixture : own_graph {
  pn::variable_handle<float> v = pn::variable(pn::tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}), {.name = "v"});
  pn::variable_handle<int> n = pn::variable(pn::tensor<int>::of({7, -7, 9}), {.name = "n"});
  pn::expr<int> at = pn::placeholder<int>({pn::unknown}, "at");
  pn::session sess;

  rows_fixture() { sess.run(pn::global_variables_initializer()); }
  template <class F>
  std::string text(const F& fetch, const std::vector<int>& of_at = {0, 2}) {
    sess.run(pn::global_variables_initializer());
    return pn::to_string(sess.run({{at, pn::tensor<int>::of(of_at)}}, fetch));
  }
};

}  // namespace

TEST_CASE_METHOD(rows_fixture, "rows at indices are written, and an index that is there twice counts twice") {
  const auto by = pn::constant<float>({{1, 2}, {3, 5}});
  CHECK(text(pn::scatter_update(v, at, by)) == "[[1, 2], [3, 4], [3, 5]]");
  CHECK(text(pn::scatter_add(v, at, by)) == "[[2, 4], [3, 4], [8, 11]]");
  CHECK(text(pn::scatter_add(v, at, by), {1, 1}) == "[[1, 2], [7, 11], [5, 6]]");
  CHECK(text(pn::scatter_update(v, at, by), {1, 1}) == "[[1, 2], [3, 5], [5, 6]]");
  CHECK(text(pn::scatter_sub(v, at, by)) == "[[0, 0], [3, 4], [2, 1]]");
  CHECK(text(pn::scatter_mul(v, at, 2.f)) == "[[2, 4], [3, 4], [10, 12]]");
  CHECK(text(pn::scatter_div(v, at, 2.f)) == "[[0.5, 1], [3, 4], [2.5, 3]]");
  CHECK(text(pn::scatter_min(v, at, 2.f)) == "[[1, 2], [3, 4], [2, 2]]");
  CHECK(text(pn::scatter_max(v, at, pn::constant<float>({{9, 0}, {0, 9}}))) == "[[9, 2], [3, 4], [5, 9]]");
}

TEST_CASE_METHOD(rows_fixture, "the axis may be another one than the first") {
  const auto columns = pn::constant<float>({{1}, {2}, {3}});
  CHECK(text(pn::scatter_add(v, at, columns, {.axis = -1}), {1}) == "[[1, 3], [3, 6], [5, 9]]");
  CHECK(text(pn::scatter_update(v, at, 0.f, {.axis = 1}), {0}) == "[[0, 2], [0, 4], [0, 6]]");
}

TEST_CASE_METHOD(rows_fixture, "integers wrap around, and one divided by 0 is 0") {
  CHECK(text(pn::scatter_div(n, at, 2), {0, 1}) == "[3, -3, 9]");
  CHECK(text(pn::scatter_div(n, at, 0), {2}) == "[7, -7, 0]");
  CHECK(text(pn::scatter_add(n, at, std::numeric_limits<int>::max()), {0}) == "[-2147483642, -7, 9]");
}

TEST_CASE_METHOD(rows_fixture, "parts at indices of several numbers are written") {
  const auto places = pn::constant<int>({{0, 1}, {2, 0}});
  CHECK(text(pn::scatter_nd_update(v, places, pn::constant<float>({8, 9}))) == "[[1, 8], [3, 4], [9, 6]]");
  CHECK(text(pn::scatter_nd_add(v, places, pn::constant<float>({8, 9}))) == "[[1, 10], [3, 4], [14, 6]]");
  CHECK(text(pn::scatter_nd_sub(v, pn::constant<int>({{1}}), pn::constant<float>({{1, 1}}))) ==
        "[[1, 2], [2, 3], [5, 6]]");
}

TEST_CASE_METHOD(rows_fixture, "an index outside fails the step and leaves the variable as it was") {
  const auto up = pn::scatter_add(v, at, 1.f);
  CHECK(refusal([&] { text(up, {0, 3}); }, pn::errc::invalid_argument, "index 3 at position 1 is not in [0, 3)") == "");
  CHECK(pn::to_string(sess.run(v)) == "[[1, 2], [3, 4], [5, 6]]");
}

TEST_CASE_METHOD(rows_fixture, "a value that was read does not change with the variable") {
  const auto before = sess.run(v);
  const auto after = sess.run({{at, {0}}}, pn::scatter_add(v, at, 1.f));
  CHECK(pn::to_string(before) == "[[1, 2], [3, 4], [5, 6]]");
  CHECK(pn::to_string(after) == "[[2, 3], [3, 4], [5, 6]]");
}

TEST_CASE_METHOD(rows_fixture, "updates that fit no rows are refused") {
  const auto refuses = [&](auto&& make, const std::string& says) {
    return refusal([&] { make(); }, pn::errc::invalid_argument, says);
  };
  const auto three = pn::constant<float>({1, 2, 3});
  CHECK(refuses([&] { pn::scatter_add(v, at, three); }, "they would have shape [?, 2] or be a scalar") == "");
  CHECK(refuses([&] { pn::scatter_add(v, at, 1.f, {.axis = 2}); }, "axis 2") == "");
  CHECK(refuses([&] { pn::scatter_nd_add(v, pn::constant<int>({{0, 1, 2}}), three); }, "[3, 2]") == "");
  const auto flag = pn::variable(pn::tensor<bool>({3}), {.name = "flag"});
  CHECK(refuses([&] { pn::scatter_add(flag, at, true); }, "of a bool variable is not defined") == "");
}

TEST_CASE("rows of no elements are updated at once, however many there are") {
  own_graph here;
  const auto many = pn::variable(pn::tensor<float>(pn::shape{std::int64_t{1} << 50, 0}));
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const auto none = pn::placeholder<int>({pn::unknown});
  CHECK(sess.run({{none, pn::tensor<int>(pn::shape{0})}}, pn::scatter_add(many, none, 1.f, {.axis = 1})).size() == 0);
}
