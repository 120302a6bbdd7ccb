// Where elements are: true ones, the first of equal ones, and places in sorted lines.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/kernel_bench.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::of;
using kernel_bench::run;

using list = std::vector<double>;

const float nan_of_search = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("the places of true elements come in the order of the elements") {
  const auto found = run("Where", {of<bool>({2, 3}, {false, true, false, true, false, true})})[0];
  CHECK(found.shape() == shape{3, 2});
  CHECK(numbers(found) == list{0, 1, 1, 0, 1, 2});
  CHECK(run("Where", {of<bool>({}, {true})})[0].shape() == shape{1, 0});
  CHECK(run("Where", {of<bool>({}, {false})})[0].shape() == shape{0, 0});
  CHECK(run("Where", {of<bool>({2, 0, 3}, {})})[0].shape() == shape{0, 3});
  CHECK(run("Where", {of<bool>({2}, {false, false})})[0].shape() == shape{0, 1});
}

TEST_CASE("a mask chooses parts along as many axes as it has, and their gradient goes back there") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x");
  auto rows = placeholder<bool>({unknown}, "rows"), elements = placeholder<bool>({unknown, unknown}, "elements");
  const auto by_row = boolean_mask(x, rows), by_column = boolean_mask(x, rows, {.axis = -1}),
             by_element = boolean_mask(x, elements);
  const auto at = tensor<float>::of({{1, 2}, {3, 4}});
  const auto first = tensor<bool>::of({true, false}), none = tensor<bool>::of({false, false});
  const auto some = tensor<bool>::of({{true, false}, {false, true}});
  CHECK(numbers(f.sess.run({{x, at}, {rows, first}}, by_row).untyped()) == list{1, 2});
  CHECK(numbers(f.sess.run({{x, at}, {rows, first}}, by_column).untyped()) == list{1, 3});
  CHECK(numbers(f.sess.run({{x, at}, {elements, some}}, by_element).untyped()) == list{1, 4});
  CHECK(f.sess.run({{x, at}, {rows, none}}, by_row).shape() == shape{0, 2});
  const auto gradient = [&](const auto& y) { return std::get<0>(gradients(y * y, x)); };
  CHECK(numbers(f.sess.run({{x, at}, {rows, first}}, gradient(by_row)).untyped()) == list{2, 4, 0, 0});
  CHECK(numbers(f.sess.run({{x, at}, {rows, first}}, gradient(by_column)).untyped()) == list{2, 0, 6, 0});
  CHECK(numbers(f.sess.run({{x, at}, {elements, some}}, gradient(by_element)).untyped()) == list{2, 0, 0, 8});
  const auto second = std::get<0>(gradients(gradient(by_element), x));
  CHECK(numbers(f.sess.run({{x, at}, {elements, some}}, second).untyped()) == list{2, 0, 0, 2});
}

TEST_CASE("a mask that does not fit is refused, where it is known or in the step") {
  own_session f;
  auto x = placeholder<float>(shape::any(), "x"), known = placeholder<float>({2, 3}, "known");
  auto rows = placeholder<bool>({unknown}, "rows"), three = placeholder<bool>({3}, "three"),
       any = placeholder<bool>(shape::any(), "any"), flag = placeholder<bool>({}, "flag");
  const auto y = boolean_mask(x, rows);
  CHECK(refusal([&] { (void)boolean_mask(known, three); }, errc::invalid_argument,
                "a mask of shape [3] at axis 0 of a tensor of shape [2, 3]") == "");
  CHECK(refusal([&] { (void)boolean_mask(known, flag); }, errc::invalid_argument, "at least one axis") == "");
  const auto mask = tensor<bool>::of({true, false});
  CHECK(refusal(
            [&] {
              f.sess.run({{any, true}, {known, tensor<float>({2, 3})}}, boolean_mask(known, any));
            },
            errc::invalid_argument, "at least one axis") == "");
  CHECK(refusal(
            [&] {
              f.sess.run({{x, tensor<float>::of({1, 2, 3})}, {rows, mask}}, y);
            },
            errc::invalid_argument, "a mask of shape [2] at axis 0 of a tensor of shape [3]") == "");
}

TEST_CASE("different elements come in the order in which each is first there") {
  const auto found = run("Unique", {of<std::int64_t>({6}, {7, 3, 7, 9, 3, 3})});
  CHECK(numbers(found[0]) == list{7, 3, 9});
  CHECK(numbers(found[1]) == list{0, 1, 0, 2, 1, 1});
  CHECK(found[1].dtype() == dtype::int32);
  CHECK(numbers(run("Unique", {of<float>({4}, {nan_of_search, -0.f, nan_of_search, 0.f})})[1]) == list{0, 1, 2, 1});
  CHECK(run("Unique", {of<float>({0}, {})})[0].shape() == shape{0});
  const any_tensor texts(dtype::string, {3});
  texts.data<std::string>()[0] = texts.data<std::string>()[2] = "b";
  CHECK(numbers(run("Unique", {texts})[1]) == list{0, 1, 0});
  CHECK(run("Unique", {texts})[0].data<std::string>()[0] == "b");
}

TEST_CASE("values have their places in sorted lines, before or behind equal elements, and NaN is last") {
  const any_tensor lines = of<float>({2, 4}, {1, 3, 3, 5, 0, 2, nan_of_search, nan_of_search});
  const any_tensor values = of<float>({2, 3}, {3, 0, 6, 2, nan_of_search, 9});
  CHECK(numbers(run("LowerBound", {lines, values})[0]) == list{1, 0, 4, 1, 2, 2});
  CHECK(numbers(run("UpperBound", {lines, values})[0]) == list{3, 0, 4, 2, 4, 2});
  CHECK(numbers(run("LowerBound", {of<std::uint8_t>({3}, {1, 200, 255}), of<std::uint8_t>({2}, {200, 2})})[0]) ==
        list{1, 1});
  CHECK(run("LowerBound", {of<int>({2, 0}, {}), of<int>({2, 1}, {1, 2})})[0] == of<int>({2, 1}, {0, 0}));
}

TEST_CASE("the functions give their ops what they are told") {
  own_session f;
  const auto x = constant<int>({4, 2, 4}), sorted = constant<int>({2, 4, 4, 6});
  const auto [values, indices] = unique(x);
  CHECK(numbers(f.sess.run(values).untyped()) == list{4, 2});
  CHECK(numbers(f.sess.run(gather(values, indices)).untyped()) == list{4, 2, 4});
  CHECK(numbers(f.sess.run(searchsorted(sorted, x)).untyped()) == list{1, 0, 1});
  CHECK(numbers(f.sess.run(searchsorted(sorted, x, {.side = side::right})).untyped()) == list{3, 1, 3});
  CHECK(numbers(f.sess.run(pinion::where(x == 4)).untyped()) == list{0, 2});
  const auto real = placeholder<float>({3}, "real");
  CHECK_THROWS_WITH(gradients(unique(real).values, real), Catch::Contains("Unique"));
}
