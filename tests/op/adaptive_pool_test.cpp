// Pools to a given size, beside PyTorch's numbers and plain pools.
#include <catch2/catch.hpp>

#include <limits>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/op/resize/adaptive_pool.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

struct adaptive_fixture : own_session {
  static tensor<double> image_of(std::int64_t h, std::int64_t w) {
    tensor<double> x({1, h, w, 1});
    for (std::int64_t i = 0; i < h; ++i)
      for (std::int64_t j = 0; j < w; ++j)
        x.data()[i * w + j] = static_cast<double>((7 * i + 3 * j + i * j) % 13) / 4 - 1;
    return x;
  }
  expr<double> image = constant(image_of(5, 7), "image");

  void expect(const expr<double>& got, const shape& extent, const std::vector<double>& want) {
    REQUIRE(got.shape() == extent);
    const auto all = sess.run(got);
    for (std::size_t i = 0; i < want.size(); ++i)
      CHECK((all.span()[i] == want[i] || all.span()[i] == Approx(want[i]).margin(1e-15)));
  }
};

}  // namespace

// The numbers are those of PyTorch 2.15: torch.nn.functional.adaptive_avg_pool2d and adaptive_max_pool2d of double.
TEST_CASE_METHOD(adaptive_fixture, "adaptive pools are PyTorch's") {
  expect(adaptive_avg_pool(image, {3, 2}), {1, 3, 2, 1}, {.375, .5625, .3125, .2708333333333333, .25, .65625});
  expect(adaptive_max_pool(image, {3, 4}), {1, 3, 4, 1}, {1.75, 1.75, 2, .25, 1.75, 1.75, 2, 2, 1.25, 1.5, 2, 2});
  expect(adaptive_avg_pool(image, {7, 3}), {1, 7, 3, 1},
         {-.25, 1.25, .5833333333333334, .20833333333333334, .875, .4583333333333333, .5833333333333334,
          .6666666666666666});
}

TEST_CASE_METHOD(adaptive_fixture, "the gradient of an adaptive mean is PyTorch's, that of a maximum goes to it") {
  const expr<double> factors = reshape(range(1., 7.), {1, 3, 2, 1});
  const auto [mean] = gradients(reduce_sum(adaptive_avg_pool(image, {3, 2}) * factors), image);
  expect(mean, {1, 5, 7, 1},
         {.125, .125, .125, .375, .25, .25, .25, .375, .375, .375, .9583333333333333, .5833333333333333});
  const auto plain = constant(tensor<double>::of({{{{1}, {2}, {3}, {2}, {1}}}}));
  const auto [most] = gradients(adaptive_max_pool(plain, {1, 3}), plain);
  expect(most, {1, 1, 5, 1}, {0, 1, 1, 1, 0});
}

TEST_CASE_METHOD(adaptive_fixture, "sizes that divide are plain pools of one node") {
  const expr<float> x = constant(tensor<float>({2, 6, 9, 3}));
  const expr<float> y = adaptive_max_pool(x, {3, 3}), z = adaptive_avg_pool(x, {6, 1});
  CHECK(y.op() == "MaxPool");
  CHECK(z.op() == "AvgPool");
  CHECK(y.shape() == shape{2, 3, 3, 3});
  CHECK(z.shape() == shape{2, 6, 1, 3});
}

TEST_CASE_METHOD(adaptive_fixture, "batches and channels may be unknown, and of any number") {
  const auto x = placeholder<double>({unknown, 5, 7, unknown}, "x");
  const auto y = adaptive_avg_pool(x, {2, 3});
  CHECK(sess.run({{x, tensor<double>({4, 5, 7, 2})}}, y).shape() == shape{4, 2, 3, 2});
  CHECK(sess.run({{x, tensor<double>({0, 5, 7, 2})}}, y).shape() == shape{0, 2, 3, 2});
}

TEST_CASE_METHOD(adaptive_fixture, "adaptive pools have second gradients") {
  const expr<double> squared = adaptive_avg_pool(image * image, {3, 2});
  const auto [first] = gradients(squared, image);
  const auto [second] = gradients(first, image);
  const auto [a, b, x] = sess.run(first, second, image);
  for (std::size_t i = 0; i < 35; ++i) CHECK(a.span()[i] == Approx(b.span()[i] * x.span()[i]).margin(1e-12));
}

TEST_CASE_METHOD(adaptive_fixture, "sizes and images that make no pool are refused") {
  CHECK(failure([&] {
          adaptive_avg_pool(image, {0, 3});
        }) == "invalid_argument: adaptive_avg_pool to 0 x 3; a size is two numbers from 1 on");
  const auto unsized = placeholder<float>({1, unknown, 7, 1}, "x");
  CHECK(failure([&] {
          adaptive_max_pool(unsized, {2, 3});
        }) ==
        "invalid_argument: adaptive_max_pool of images of shape [1, ?, 7, 1]; it takes [n, height, width, channels] of "
        "known heights and widths");
  CHECK(caught([&] { adaptive_max_pool(constant(1.f), {2, 3}); }).code() == errc::invalid_argument);
}

TEST_CASE_METHOD(adaptive_fixture, "the mean of a window with an infinity is infinite, where windows differ in size") {
  const double endless = std::numeric_limits<double>::infinity();
  const auto row = constant(tensor<double>({1, 1, 5, 1}, std::vector<double>{1, endless, 3, 4, 5}));
  expect(adaptive_avg_pool(row, {1, 3}), {1, 1, 3, 1}, {endless, endless, 4.5});
}
