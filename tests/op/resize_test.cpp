// Images in another size, by values that TensorFlow's own tests have (resize_bilinear_op_test.cc,
// resize_nearest_neighbor_op_test.cc).
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/kernel_bench.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;

struct resize_fixture : own_session {
  using list = std::vector<double>;
  expr<float> small = constant(tensor<float>(kernel_bench::of<float>({1, 2, 2, 1}, {1, 2, 3, 4})));

  template <class A>
  list pixels(const A& y) {
    return numbers(sess.run(y).untyped());
  }
};

}  // namespace

TEST_CASE_METHOD(resize_fixture, "the nearest pixels are those of TensorFlow, by each rule") {
  CHECK(pixels(resize_nearest(small, {3, 3})) == list{1, 1, 2, 1, 1, 2, 3, 3, 4});
  CHECK(pixels(resize_nearest(small, {3, 3}, {.align_corners = true})) == list{1, 2, 2, 3, 4, 4, 3, 4, 4});
  CHECK(pixels(resize_nearest(small, {3, 3}, {.half_pixel_centers = true})) == list{1, 2, 2, 3, 4, 4, 3, 4, 4});
  CHECK(pixels(resize_nearest(small, {1, 1}, {.align_corners = true})) == list{1});
  const auto tall = reshape(range(1.0f, 11.0f), {1, 5, 2, 1});
  CHECK(pixels(resize_nearest(tall, {2, 2})) == list{1, 2, 5, 6});
  CHECK(pixels(resize_nearest(tall, {2, 2}, {.half_pixel_centers = true})) == list{3, 4, 7, 8});
}

TEST_CASE_METHOD(resize_fixture, "means of four pixels are those of TensorFlow, by each rule") {
  const auto by_thirds = pixels(resize_bilinear(small, {3, 3}));
  const list expected{1, 5. / 3, 2, 7. / 3, 3, 10. / 3, 3, 11. / 3, 4};
  for (std::size_t i = 0; i < 9; ++i) CHECK(by_thirds[i] == Approx(expected[i]).epsilon(1e-6));
  CHECK(pixels(resize_bilinear(small, {3, 3}, {.align_corners = true})) == list{1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4});
  CHECK(pixels(resize_bilinear(small, {4, 4}, {.half_pixel_centers = true})) ==
        list{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  CHECK(pixels(resize_bilinear(small, {4, 4})) == list{1, 1.5, 2, 2, 2, 2.5, 3, 3, 3, 3.5, 4, 4, 3, 3.5, 4, 4});
  CHECK(pixels(resize_bilinear(small, {1, 1}, {.half_pixel_centers = true})) == list{2.5});
}

TEST_CASE_METHOD(resize_fixture, "the gradient of a pixel is what it gave, and the second one resizes") {
  const auto x = identity(small);
  const auto y = resize_nearest(x, {3, 3});
  CHECK(pixels(std::get<0>(gradients(reduce_sum(y), x))) == list{4, 2, 2, 1});
  const auto z = resize_bilinear(x, {4, 4}, {.half_pixel_centers = true});
  const auto [dx] = gradients(reduce_sum(square(z)), x);
  CHECK(dx.op() == "ResizeBilinearGrad");
  const auto [second] = gradients(reduce_sum(dx), x);
  CHECK(pixels(second) == list{8, 8, 8, 8});  // each pixel has 4 places of 2 times itself
}

TEST_CASE_METHOD(resize_fixture, "images of unknown number and size are resized, and none at all") {
  const auto x = placeholder<double>(shape::any(), "x");
  const auto y = resize_bilinear(x, {2, 3}, {.align_corners = true});
  CHECK(y.shape() == shape{unknown, 2, 3, unknown});
  const auto [dx] = gradients(reduce_sum(y), x);
  const auto [value, slope] = sess.run({{x, tensor<double>(shape{0, 5, 4, 2})}}, y, dx);
  CHECK(value.shape() == shape{0, 2, 3, 2});
  CHECK(slope.shape() == shape{0, 5, 4, 2});
  CHECK(failure([&] {
          sess.run({{x, tensor<double>(shape{1, 0, 4, 2})}}, y);
        }) == "invalid_argument: images of shape [1, 0, 4, 2] have no pixels to resize");
  CHECK(failure([&] {
          sess.run({{x, tensor<double>(shape{4, 2})}}, y);
        }).find("are resized, not shape [4, 2]") != std::string::npos);
  CHECK(failure([&] {
          resize_nearest(small, {2, 2}, {.align_corners = true, .half_pixel_centers = true});
        }).find("both do not go together") != std::string::npos);
}
