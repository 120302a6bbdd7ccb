// Convolution and pooling on a GPU without a library, beside the host's loops.
#include "device_array.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <pinion/op/conv/cpu.hpp>
#include <pinion/op/conv/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::attributes, pinion::integers, pinion::shape;
using pinion::cuda::image_axis, pinion::cuda::image_extents;
namespace host = pinion::op::detail;
using host::conv_pass, host::image_geometry;

image_axis axis_of(const pinion::op::window_axis& w, std::int64_t image) {
  return {image, w.outputs(image), w.extent, w.stride, w.dilation, w.before(image)};
}

image_extents extents_of(const image_geometry& g) {
  return {g.images[0], g.images[3], g.windows[3], axis_of(g.over.height, g.images[1]),
          axis_of(g.over.width, g.images[2])};
}

image_geometry geometry(const shape& images, const shape& filters, const std::string& padding, std::int64_t stride,
                        std::int64_t dilation) {
  const attributes attrs{
      {"padding", padding}, {"strides", integers{stride, stride}}, {"dilations", integers{dilation, dilation}}};
  const pinion::op::window over(attrs, filters[0], filters[1]);
  return {images, filters, over.over(images, filters[3]), over};
}

image_geometry pooling(const shape& images, integers window, const std::string& padding, std::int64_t stride) {
  const attributes attrs{{"padding", padding}, {"strides", integers{stride, stride}}, {"window", window}};
  return host::pooling_geometry(attrs, images);
}

const std::vector<image_geometry>& convolutions() {
  static const std::vector<image_geometry> all{
      geometry({1, 1, 1, 1}, {1, 1, 1, 1}, "VALID", 1, 1),    geometry({2, 5, 6, 3}, {3, 2, 3, 4}, "VALID", 1, 1),
      geometry({2, 9, 7, 3}, {3, 3, 3, 5}, "SAME", 2, 1),     geometry({1, 11, 13, 2}, {3, 3, 2, 70}, "SAME", 1, 2),
      geometry({3, 12, 10, 17}, {5, 4, 17, 9}, "SAME", 3, 1), geometry({2, 8, 8, 33}, {1, 1, 33, 65}, "VALID", 1, 1),
      geometry({1, 2, 2, 3}, {4, 4, 3, 2}, "VALID", 1, 1),    geometry({0, 4, 4, 3}, {2, 2, 3, 2}, "VALID", 1, 1),
      geometry({40, 8, 8, 4}, {3, 3, 4, 5}, "SAME", 1, 1),    geometry({2, 5, 5, 0}, {3, 3, 0, 2}, "SAME", 1, 1),
      geometry({1, 4, 4, 64}, {3, 3, 64, 5}, "SAME", 1, 1),   geometry({1, 4, 5, 3}, {3, 3, 3, 64}, "SAME", 1, 1)};
  return all;
}

template <class T>
std::vector<T> convolved_on_host(conv_pass pass, const image_geometry& g, const std::vector<T>& a,
                                 const std::vector<T>& b, std::int64_t results) {
  std::vector<T> y(static_cast<std::size_t>(results), T(0));
  if (!g.nothing()) host::convolve_by_products(pass, g, a.data(), b.data(), y.data());
  return y;
}

// Elements are so small and few that every sum is exact.
template <class T>
bool convolves(conv_pass pass, const image_geometry& g) {
  const bool forward = pass == conv_pass::forward, by_images = pass == conv_pass::by_images;
  const auto a = some_elements<T>((by_images ? g.windows : g.images).count()),
             b = some_elements<T>((pass == conv_pass::by_filters ? g.windows : g.filters).count(), 3);
  const std::int64_t results = (forward ? g.windows : by_images ? g.images : g.filters).count();
  const image_extents e = extents_of(g);
  const auto by = forward     ? pinion::cuda::conv_pass::forward
                  : by_images ? pinion::cuda::conv_pass::by_images
                              : pinion::cuda::conv_pass::by_filters;
  const kernels::stream stream;
  const device_array<T> left(stream, a), right(stream, b), y(stream, results),
      scratch(stream, pinion::cuda::convolve_scratch(by, e));
  pinion::cuda::convolve<T>(stream, by, left.data(), right.data(), y.data(), scratch.data(), e);
  return y.read() == convolved_on_host(pass, g, a, b, results);
}

const std::vector<image_geometry>& poolings() {
  static const std::vector<image_geometry> all{
      pooling({1, 1, 1, 1}, {1, 1}, "VALID", 1), pooling({2, 8, 6, 3}, {2, 2}, "VALID", 2),
      pooling({2, 9, 7, 5}, {3, 3}, "SAME", 2),  pooling({3, 10, 11, 33}, {3, 2}, "SAME", 1),
      pooling({1, 7, 20, 2}, {5, 4}, "SAME", 3), pooling({1, 6, 6, 4}, {2, 2}, "VALID", 4),
      pooling({2, 2, 9, 1}, {3, 3}, "VALID", 1), pooling({0, 4, 4, 2}, {2, 2}, "VALID", 2),
      pooling({1, 3, 3, 2}, {7, 7}, "SAME", 5)};
  return all;
}

// Elements of which many are equal, with some that are no numbers.
template <class T>
std::vector<T> images_of(const image_geometry& g) {
  auto x = some_elements<T>(g.images.count(), 9);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 23 == 5 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(static_cast<int>(x[i] / 2));
  return x;
}

template <class T>
std::vector<T> zeros_of(const shape& s) {
  return std::vector<T>(static_cast<std::size_t>(s.count()), T(0));
}

// Calls f(offset among the windows, offset among the images) for the greatest place of each window.
template <class T, class F>
void for_each_greatest(const image_geometry& g, const std::vector<T>& x, F f) {
  for (std::int64_t n = 0; n < g.images[0]; ++n)
    host::for_each_maximum(g, x.data() + n * g.image_size(), [&](std::int64_t out, std::int64_t at) {
      f(static_cast<std::size_t>(n * g.windows_size() + out), static_cast<std::size_t>(n * g.image_size() + at));
    });
}

template <class T>
void for_each_share(const image_geometry& g, std::size_t channels, auto f) {
  for (std::int64_t n = 0; n < g.images[0]; ++n)
    host::for_each_share(g, [&](std::int64_t out, std::int64_t at, double share) {
      for (std::size_t k = 0; k < channels; ++k)
        f(static_cast<std::size_t>(n * g.windows_size() + out) + k,
          static_cast<std::size_t>(n * g.image_size() + at) + k, static_cast<T>(share));
    });
}

// On a GPU a product and the sum that it is added to are rounded once, on the host twice: of up to 20 terms below 4,
// whose shares add up to about 1, the sums differ by a few of their last bits.
template <class T>
bool are_close(const std::vector<T>& a, const std::vector<T>& b) {
  constexpr T most = 32 * std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= most * std::max(T(1), std::abs(b[i])))) return false;
  return a.size() == b.size();
}

template <class T>
std::vector<T> without_nan(std::vector<T> x) {
  for (T& e : x) e = e == e ? e : T(1e9);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("images are convolved, and both gradients are the host's", "", float, double) {
  for (const image_geometry& g : convolutions()) {
    INFO(to_string(g.images) << " by " << to_string(g.filters));
    CHECK(convolves<TestType>(conv_pass::forward, g));
    CHECK(convolves<TestType>(conv_pass::by_images, g));
    CHECK(convolves<TestType>(conv_pass::by_filters, g));
  }
}

TEMPLATE_TEST_CASE("the greatest elements of windows are the host's, and so are gradients that go to their places", "",
                   float, double) {
  for (const image_geometry& g : poolings()) {
    INFO(to_string(g.images) << " to " << to_string(g.windows));
    const auto x = images_of<TestType>(g);
    const auto dy = some_elements<TestType>(g.windows.count(), 4), values = some_elements<TestType>(g.images.count());
    auto y = zeros_of<TestType>(g.windows), taken = y, dx = zeros_of<TestType>(g.images);
    for_each_greatest(
        g, x, [&](std::size_t out, std::size_t at) { y[out] = x[at], taken[out] = values[at], dx[at] += dy[out]; });
    const kernels::stream stream;
    const device_array<TestType> images(stream, x), given(stream, values), gradient(stream, dy),
        greatest(stream, g.windows.count()), result(stream, g.windows.count()), sum(stream, g.images.count());
    const device_array<std::int32_t> places(stream, g.windows.count());
    const image_extents e = extents_of(g);
    pinion::cuda::pool_greatest<TestType>(stream, images.data(), greatest.data(), e);
    pinion::cuda::greatest_places<TestType>(stream, images.data(), places.data(), e);
    pinion::cuda::take_at_places<TestType>(stream, given.data(), places.data(), result.data(), e);
    pinion::cuda::add_at_places<TestType>(stream, gradient.data(), places.data(), sum.data(), e);
    CHECK(without_nan(greatest.read()) == without_nan(y));
    CHECK(result.read() == taken);
    CHECK(sum.read() == dx);
  }
}

TEMPLATE_TEST_CASE("means of windows and their gradients are the host's up to rounding", "", float, double) {
  for (const image_geometry& g : poolings()) {
    INFO(to_string(g.images) << " to " << to_string(g.windows));
    const auto x = some_elements<TestType>(g.images.count()), dy = some_elements<TestType>(g.windows.count(), 4);
    auto y = zeros_of<TestType>(g.windows), dx = zeros_of<TestType>(g.images);
    for_each_share<TestType>(
        g, static_cast<std::size_t>(g.images[3]),
        [&](std::size_t out, std::size_t at, TestType share) { y[out] += x[at] * share, dx[at] += dy[out] * share; });
    const kernels::stream stream;
    const device_array<TestType> images(stream, x), gradient(stream, dy), means(stream, g.windows.count()),
        sum(stream, g.images.count());
    pinion::cuda::pool_means<TestType>(stream, images.data(), means.data(), extents_of(g));
    pinion::cuda::share_means<TestType>(stream, gradient.data(), sum.data(), extents_of(g));
    CHECK(are_close(means.read(), y));
    CHECK(are_close(sum.read(), dx));
  }
}
