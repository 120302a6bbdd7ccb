// Kernels of resizing: rows of the result are split over threads, and whole images of a gradient.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pinion/op/resize/op.hpp>
#include <pinion/op/resize/places.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace resize {

inline void expect_rank_of_images(const shape& s) {
  if (s.rank() != 4)
    throw error(errc::invalid_argument, "images [n, height, width, channels] are resized, not shape " + to_string(s));
}

// One pixel each of the nearest ones. Small: [n, h, w, c]; large, of the resized images: [n, h', w', c].
class nearest_pixels {
 public:
  nearest_pixels(const attributes& attrs, const shape& small, const shape& large)
      : width_(small[2]),
        channels_(small[3]),
        rows_(resize_axis(attrs, small[1], large[1]).nearest()),
        columns_(resize_axis(attrs, small[2], large[2]).nearest()) {}

  // Writes row y of a resized image.
  template <class T>
  void write_row(const T* image, std::int64_t y, T* row) const {
    const T* const from = image + rows_[static_cast<std::size_t>(y)] * width_ * channels_;
    for (const std::int64_t x : columns_) row = std::copy_n(from + x * channels_, channels_, row);
  }
  // Adds the gradients of row y to those of the image.
  template <class T>
  void add_row(T* image, std::int64_t y, const T* row) const {
    T* const to = image + rows_[static_cast<std::size_t>(y)] * width_ * channels_;
    for (const std::int64_t x : columns_)
      for (std::int64_t k = 0; k < channels_; ++k) to[x * channels_ + k] += *row++;
  }

 private:
  const std::int64_t width_, channels_;
  const std::vector<std::int64_t> rows_, columns_;
};

// Means of the four pixels around, in the order of operations of TensorFlow's kernels.
class pixels_between {
 public:
  pixels_between(const attributes& attrs, const shape& small, const shape& large)
      : width_(small[2]),
        channels_(small[3]),
        rows_(resize_axis(attrs, small[1], large[1]).between()),
        columns_(resize_axis(attrs, small[2], large[2]).between()) {}

  template <class T>
  void write_row(const T* image, std::int64_t y, T* row) const {
    const resize_place& at = rows_[static_cast<std::size_t>(y)];
    const T *const top = image + at.lower * width_ * channels_, *const bottom = image + at.upper * width_ * channels_;
    const T down = static_cast<T>(at.share);
    for (const resize_place& x : columns_) {
      const std::int64_t left = x.lower * channels_, right = x.upper * channels_;
      const T along = static_cast<T>(x.share);
      for (std::int64_t k = 0; k < channels_; ++k) {
        const T above = top[left + k] + (top[right + k] - top[left + k]) * along;
        const T below = bottom[left + k] + (bottom[right + k] - bottom[left + k]) * along;
        *row++ = above + (below - above) * down;
      }
    }
  }
  template <class T>
  void add_row(T* image, std::int64_t y, const T* row) const {
    const resize_place& at = rows_[static_cast<std::size_t>(y)];
    T *const top = image + at.lower * width_ * channels_, *const bottom = image + at.upper * width_ * channels_;
    const T down = static_cast<T>(at.share), up = 1 - down;
    for (const resize_place& x : columns_) {
      const std::int64_t left = x.lower * channels_, right = x.upper * channels_;
      const T along = static_cast<T>(x.share), back = 1 - along;
      for (std::int64_t k = 0; k < channels_; ++k) {
        const T dy = *row++;
        top[left + k] += dy * up * back;
        top[right + k] += dy * up * along;
        bottom[left + k] += dy * down * back;
        bottom[right + k] += dy * down * along;
      }
    }
  }

 private:
  const std::int64_t width_, channels_;
  const std::vector<resize_place> rows_, columns_;
};

template <class T, class Pixels>
void run(kernel_context& c, const attributes& attrs) {
  const any_tensor x = c.input(0);
  expect_rank_of_images(x.shape());
  const shape extent = resizing::resized(attrs, x.shape());
  const any_tensor y = c.allocate(0, x.dtype(), extent);
  if (y.count() == 0) return;
  c.launch([x, y, pixels = std::make_shared<const Pixels>(attrs, x.shape(), extent), services = c.services] {
    const std::int64_t height = y.shape()[1], size = y.shape()[2] * y.shape()[3];
    const std::int64_t image = x.count() / x.shape()[0];
    in_ranges(*services, y.shape()[0] * height, size, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        pixels->write_row(x.data<T>() + row / height * image, row % height, y.data<T>() + row * size);
    });
  });
}

template <class T, class Pixels>
void run_gradient(kernel_context& c, const attributes& attrs) {
  const any_tensor dy = c.input(0);
  const shape small = c.input(1).shape();
  expect_rank_of_images(small);
  resizing::expect_gradient(attrs, dy.shape(), small);
  const any_tensor dx = c.allocate(0, dy.dtype(), small);
  if (dx.count() == 0) return;
  c.launch([dy, dx, pixels = std::make_shared<const Pixels>(attrs, small, dy.shape()), services = c.services] {
    const std::int64_t height = dy.shape()[1], size = dy.shape()[2] * dy.shape()[3];
    const std::int64_t images = dx.shape()[0], image = dx.count() / images;
    in_ranges(*services, images, image + height * size, [&](std::int64_t first, std::int64_t last) {
      std::fill(dx.data<T>() + first * image, dx.data<T>() + last * image, T(0));
      for (std::int64_t row = first * height; row < last * height; ++row)
        pixels->add_row(dx.data<T>() + row / height * image, row % height, dy.data<T>() + row * size);
    });
  });
}

// Makes a kernel of run or run_gradient for the dtype of the images.
template <class Pixels>
std::unique_ptr<kernel> make(const kernel_setup& setup, bool is_gradient) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([attrs = setup.attrs(), is_gradient](kernel_context& c) {
      is_gradient ? run_gradient<T, Pixels>(c, attrs) : run<T, Pixels>(c, attrs);
    });
  });
}

}}}}}  // namespace pinion::v0::op::detail::resize

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(resize_nearest_neighbor, const kernel_setup& setup) {
  return detail::resize::make<detail::resize::nearest_pixels>(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(resize_nearest_neighbor_grad, const kernel_setup& setup) {
  return detail::resize::make<detail::resize::nearest_pixels>(setup, true);
}
inline std::unique_ptr<kernel> make_kernel(resize_bilinear, const kernel_setup& setup) {
  return detail::resize::make<detail::resize::pixels_between>(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(resize_bilinear_grad, const kernel_setup& setup) {
  return detail::resize::make<detail::resize::pixels_between>(setup, true);
}

}}}  // namespace pinion::v0::op
