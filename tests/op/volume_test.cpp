// Convolution and pooling of volumes, beside PyTorch's numbers.
#include <catch2/catch.hpp>

#include <vector>

#include <pinion/graph.hpp>
#include <pinion/op/volume/functions.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

struct volume_fixture : own_session {
  template <class T>
  static tensor<T> numbers(const shape& extent, int step, int cycle, double less) {
    tensor<T> x(extent);
    for (std::int64_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<T>(static_cast<double>(step * i % cycle) / 4 - less);
    return x;
  }
  template <class T>
  static expr<T> volume() {
    return constant(numbers<T>({1, 3, 4, 5, 2}, 7, 11, 1));
  }
  template <class T>
  static expr<T> filters() {
    return constant(numbers<T>({2, 3, 2, 2, 2}, 5, 7, .5));
  }
  // The numbers are multiples of 1/64, so that they are exact in each dtype, in any order.
  template <class T>
  void expect(const expr<T>& got, const std::vector<double>& want) {
    const tensor<T> all = sess.run(got);
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(static_cast<double>(all.span()[i]) == want[i]);
  }

  // The numbers are those of PyTorch 2.15: torch.nn.functional.conv3d(x, k, stride=(1, 1, 2)) of double, the gradients
  // of the sum of its squares, and max_pool3d and avg_pool3d(x, (2, 2, 2), stride=(1, 2, 2)).
  template <class T>
  void expect_numbers_of_pytorch() {
    const expr<T> x = volume<T>(), k = filters<T>();
    const expr<T> y = conv3d(x, k, {.strides = {1, 1, 2}});
    REQUIRE(y.shape() == shape{1, 2, 2, 2, 2});
    expect(y, {-.0625, .25, 4.8125, 2.75, 1.8125, .3125, -3.625, 2.125, 3.3125, 1.875, -.0625, .25, 1.0625, 2.625,
               1.8125, .3125});
    const auto [by_filters, by_volume] = gradients(square(y), k, x);
    expect<T>(by_filters, {-1.5, 15.625, -20.3125, -2.625, 26.1875, 5.25});
    expect<T>(by_volume, {.4375, -.15625, .125, -.25, -.6875, 1.03125});
    const pool3d_options o{.window = {2, 2, 2}, .strides = {1, 2, 2}};
    expect<T>(max_pool3d(x, o), {1.25, 1.5, 1.5, 1.5, 1.25, 1.25, 1.5, 1.5, 1.5, 1.5, 1.25, 1.5, 1.5, 1.5, 1.25, 1.25});
    expect<T>(avg_pool3d(x, o), {.15625, .1875, .28125, .3125, .09375, .125, .21875, .25, .375, .40625, .15625, .1875,
                                 .3125, .34375, .09375, .125});
  }
};

}  // namespace

TEST_CASE_METHOD(volume_fixture, "convolutions and pools of volumes are PyTorch's") {
  expect_numbers_of_pytorch<float>();
  expect_numbers_of_pytorch<double>();
}

TEST_CASE_METHOD(volume_fixture, "a batch is convolved as its volumes are, with any number of threads") {
  const auto x = constant(numbers<float>({5, 4, 9, 8, 3}, 7, 23, 2));
  const auto k = constant(numbers<float>({3, 3, 3, 3, 4}, 5, 17, 1));
  const conv3d_options o{.strides = {2, 1, 1}, .padding = padding::same};
  const auto y = conv3d(x, k, o);
  const auto [slope] = gradients(y, x);
  session one({.graph = &g, .intra_op_threads = 1}), four({.graph = &g, .intra_op_threads = 4});
  const auto [y1, s1] = one.run(y, slope);
  const auto [y4, s4] = four.run(y, slope);
  CHECK(y1 == y4);
  CHECK(s1 == s4);
  CHECK(y.shape() == shape{5, 2, 9, 8, 4});
}

TEST_CASE_METHOD(volume_fixture, "extents that are unknown before are checked in the step") {
  const auto x = placeholder<float>(shape::any(), "x");
  const auto y = conv3d(x, filters<float>());
  CHECK(y.shape().rank() == 5);
  CHECK(sess.run({{x, tensor<float>({2, 3, 4, 5, 2})}}, y).shape() == shape{2, 2, 2, 4, 2});
  CHECK(sess.run({{x, tensor<float>({0, 3, 4, 5, 2})}}, y).shape() == shape{0, 2, 2, 4, 2});
  CHECK(caught([&] { sess.run({{x, tensor<float>({2, 3, 4, 5, 3})}}, y); }).code() == errc::invalid_argument);
  CHECK(caught([&] { sess.run({{x, tensor<float>({3, 4, 5, 2})}}, y); }).code() == errc::invalid_argument);
  const auto pooled = max_pool3d(x);
  CHECK(sess.run({{x, tensor<float>({1, 2, 4, 5, 1})}}, pooled).shape() == shape{1, 1, 2, 2, 1});
}

TEST_CASE_METHOD(volume_fixture, "volumes that do not fit are refused where they are written") {
  CHECK(failure([&] {
          conv3d(volume<float>(), constant(tensor<float>({1, 1, 1, 3, 1})));
        }).find("have 2 channels") != std::string::npos);
  CHECK(failure([&] {
          max_pool3d(volume<float>(), {.window = {0, 1, 1}});
        }).find("three numbers from 1 on") != std::string::npos);
}

TEST_CASE_METHOD(volume_fixture, "volumes without channels are pooled at once, however many windows they have") {
  const std::int64_t wide = std::int64_t{1} << 27;
  const auto x = constant(tensor<float>({1, wide, wide, 2, 0}));
  CHECK(sess.run(max_pool3d(x)).shape() == shape{1, wide / 2, wide / 2, 1, 0});
  CHECK(sess.run(std::get<0>(gradients(avg_pool3d(x), x))).shape() == shape{1, wide, wide, 2, 0});
}
