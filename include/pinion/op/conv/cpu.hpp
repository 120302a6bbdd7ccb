// Kernels of convolution and pooling. Floats go through oneDNN where it was configured; doubles, and floats without it,
// are computed by products with windows laid out as rows of a matrix, and by plain loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/op/conv/checks.hpp>
#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/conv/library.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/op/conv/parts.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// ---- windows as a matrix: [h' w', p q c] of the channels of one group of an image, whose first one `image` points to

template <class T>
void lay_out_windows(const image_geometry& g, const T* image, T* rows) {
  const std::int64_t c = g.filters[2], row_size = g.over.height.extent * g.over.width.extent * c;
  std::fill_n(rows, g.windows[1] * g.windows[2] * row_size, T(0));
  for (std::int64_t i = 0; i < g.windows[1]; ++i)
    for (std::int64_t j = 0; j < g.windows[2]; ++j) {
      T* const row = rows + (i * g.windows[2] + j) * row_size;
      for_each_place(g, i, j, [&](std::int64_t y, std::int64_t x, std::int64_t p, std::int64_t q) {
        std::copy_n(image + (y * g.images[2] + x) * g.images[3], c, row + (p * g.over.width.extent + q) * c);
      });
    }
}

template <class T>
void add_windows_up(const image_geometry& g, const T* rows, T* image) {
  const std::int64_t c = g.filters[2], row_size = g.over.height.extent * g.over.width.extent * c;
  for (std::int64_t i = 0; i < g.windows[1]; ++i)
    for (std::int64_t j = 0; j < g.windows[2]; ++j) {
      const T* const row = rows + (i * g.windows[2] + j) * row_size;
      for_each_place(g, i, j, [&](std::int64_t y, std::int64_t x, std::int64_t p, std::int64_t q) {
        const T* from = row + (p * g.over.width.extent + q) * c;
        T* to = image + (y * g.images[2] + x) * g.images[3];
        for (std::int64_t k = 0; k < c; ++k) to[k] += from[k];
      });
    }
}

// A pass over one image and one group, by a matrix product with `rows`, which hold the windows. The operands point to
// the first element of the image and of the group.
template <class T>
void convolve_group(conv_pass pass, const image_geometry& g, const T* a, const T* b, T* y, std::vector<T>& rows) {
  const std::int64_t places = g.windows[1] * g.windows[2], all = g.windows[3], out = all / g.groups();
  const std::int64_t row_size = g.filters[0] * g.filters[1] * g.filters[2];
  if (pass == conv_pass::by_images) {
    gemm(product<T>{a, b, rows.data(), places, row_size, out, false, true, all, all, row_size});
    return add_windows_up(g, rows.data(), y);
  }
  lay_out_windows(g, a, rows.data());
  if (pass == conv_pass::forward)
    gemm(product<T>{rows.data(), b, y, places, out, row_size, false, false, row_size, all, all});
  else
    gemm(product<T>{rows.data(), b, y, row_size, out, places, true, false, row_size, all, all});
}

// One pass over the images by matrix products. a, b, y are: forward (images, filters, windows); by_images (dy, filters,
// images); by_filters (images, dy, filters).
template <class T>
void convolve_by_products(conv_pass pass, const image_geometry& g, const T* a, const T* b, T* y) {
  const bool forward = pass == conv_pass::forward, by_filters = pass == conv_pass::by_filters;
  const std::int64_t in = g.filters[2], out = g.windows[3] / g.groups();
  std::vector<T> rows(static_cast<std::size_t>(g.windows[1] * g.windows[2] * g.filters[0] * g.filters[1] * in)), sum;
  if (!forward) std::fill_n(y, g.result(pass).count(), T(0));
  if (by_filters) sum.resize(static_cast<std::size_t>(g.filters.count()));
  for (std::int64_t n = 0; n < g.images[0]; ++n) {
    const T* const left = a + n * (pass == conv_pass::by_images ? g.windows_size() : g.image_size());
    const T* const right = b + (by_filters ? n * g.windows_size() : 0);
    T* const to = by_filters ? sum.data() : y + n * (forward ? g.windows_size() : g.image_size());
    for (std::int64_t k = 0; k < g.groups(); ++k)
      convolve_group(pass, g, left + k * (pass == conv_pass::by_images ? out : in), right + k * out,
                     to + k * (pass == conv_pass::by_images ? in : out), rows);
    for (std::size_t i = 0; i < sum.size(); ++i) y[i] += sum[i];
  }
}

// ---- convolution

// A pass whose operands are rounded to `compute`, and the oneDNN primitives for the shapes of the latest runs.
// Thread-safe.
class convolver {
 public:
  convolver(conv_pass pass, dtype compute) : pass_(pass), compute_(compute) {}

  template <class T>
  void run(const image_geometry& g, const T* a, const T* b, T* y) {
    if (g.nothing()) return void(std::fill_n(y, g.result(pass_).count(), T(0)));
    const bool by_library = std::is_same_v<T, float> && library_convolves(g);
    const dtype rounded = by_library && is_narrow_ ? dtype::float32 : compute_;
    const rounded_numbers<T> left(rounded, a, (pass_ == conv_pass::by_images ? g.windows : g.images).count());
    const rounded_numbers<T> right(rounded, b, (pass_ == conv_pass::by_filters ? g.windows : g.filters).count());
#if PINION_HAS_ONEDNN
    if constexpr (std::is_same_v<T, float>)
      if (by_library) {
        const auto call = calls_.of(g, [&] { return make_convolution(pass_, g, is_narrow_); });
        return calling_onednn([&] { (*call)({const_cast<float*>(left.get()), const_cast<float*>(right.get()), y}); });
      }
#endif
    convolve_by_products(pass_, g, left.get(), right.get(), y);
  }

 private:
#if PINION_HAS_ONEDNN
  bool library_convolves(const image_geometry& g) const {
    return !overruns_scratch(pass_, g);
  }
  latest_calls<image_geometry> calls_;
#else
  bool library_convolves(const image_geometry&) const {
    return false;
  }
#endif
  const conv_pass pass_;
  const dtype compute_;
  const bool is_narrow_ = has_fast_products(compute_);  // the library rounds, as it reads operands
};

class convolution_kernel final : public kernel {
 public:
  convolution_kernel(conv_pass pass, attributes attrs)
      : pass_(pass), attrs_(std::move(attrs)), convolver_(std::make_shared<convolver>(pass, compute_of(attrs_))) {}
  bool expensive() const override { return true; }

  void run(kernel_context& c) override {
    const image_geometry g = convolution_geometry(pass_, attrs_, c);
    const any_tensor a = c.input(0), b = c.input(1), y = c.allocate(0, a.dtype(), g.result(pass_));
    visit_plain(a.dtype(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        c.launch([=, by = convolver_, pass = pass_, services = c.services] {
          convolve_in_parts(*by, pass, g, a.data<T>(), b.data<T>(), y.data<T>(), *services);
        });
    });
  }

 private:
  conv_pass pass_;
  attributes attrs_;
  std::shared_ptr<convolver> convolver_;
};

// ---- pooling

// The offset in the image of the first greatest element of window (i, j), for each channel. NaN counts as less than any
// number.
template <class T>
void greatest_places(const image_geometry& g, const T* image, std::int64_t i, std::int64_t j, std::int64_t* at) {
  const std::int64_t c = g.images[3];
  std::fill_n(at, c, std::int64_t{-1});
  for_each_place(g, i, j, [&](std::int64_t y, std::int64_t x, std::int64_t, std::int64_t) {
    const std::int64_t here = (y * g.images[2] + x) * c;
    for (std::int64_t k = 0; k < c; ++k)
      if (at[k] < 0 || image[here + k] > image[at[k]] ||
          (image[at[k]] != image[at[k]] && image[here + k] == image[here + k]))
        at[k] = here + k;
  });
}

// Calls f(window's first output, offsets) for each window of an image.
template <class T, class F>
void for_each_maximum(const image_geometry& g, const T* image, F&& f) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(g.images[3]));
  for (std::int64_t i = 0; i < g.windows[1]; ++i)
    for (std::int64_t j = 0; j < g.windows[2]; ++j) {
      greatest_places(g, image, i, j, at.data());
      const std::int64_t out = (i * g.windows[2] + j) * g.windows[3];
      for (std::size_t k = 0; k < at.size(); ++k)
        if (at[k] >= 0) f(out + static_cast<std::int64_t>(k), at[k]);
    }
}

// Calls f(first output, first element of the image, share) for each element of each window of an image. The shares of
// one window add up to 1.
template <class F>
void for_each_share(const image_geometry& g, F&& f) {
  for (std::int64_t i = 0; i < g.windows[1]; ++i)
    for (std::int64_t j = 0; j < g.windows[2]; ++j) {
      std::int64_t places = 0;
      for_each_place(g, i, j, [&](auto...) { ++places; });
      for_each_place(g, i, j, [&](std::int64_t y, std::int64_t x, std::int64_t, std::int64_t) {
        f((i * g.windows[2] + j) * g.windows[3], (y * g.images[2] + x) * g.images[3],
          1.0 / static_cast<double>(places));
      });
    }
}

// Calls work(T*, image number) for each image, split over the threads of the task.
template <class Work>
void for_each_image(kernel_context& c, const image_geometry& g, Work work) {
  if (g.images.count() == 0) return;  // images without channels have windows, but nothing in them
  c.launch([g, work, services = c.services] {
    in_ranges(*services, g.images[0], g.image_size() + g.windows_size(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last; ++n) work(n);
    });
  });
}

template <class T>
void run_pool(kernel_context& c, const attributes& attrs, bool mean) {
  const any_tensor x = c.input(0);
  const image_geometry g = pooling_geometry(attrs, x.shape());
  const any_tensor y = c.allocate(0, x.dtype(), g.windows);
  if (y.count() == 0) return;
#if PINION_HAS_ONEDNN
  // oneDNN walks the places outside of the image, too, which may be any number of them.
  const bool within = g.over.height.extent <= g.images[1] && g.over.width.extent <= g.images[2];
  if constexpr (std::is_same_v<T, float>)
    if (within) {
      const auto one = make_pooling(mean, g.part(1));
      return for_each_image(c, g, [=](std::int64_t n) {
        calling_onednn([&] { (*one)({x.data<T>() + n * g.image_size(), y.data<T>() + n * g.windows_size()}); });
      });
    }
#endif
  for_each_image(c, g, [=](std::int64_t n) {
    const T* from = x.data<T>() + n * g.image_size();
    T* to = y.data<T>() + n * g.windows_size();
    if (!mean) return for_each_maximum(g, from, [&](std::int64_t out, std::int64_t at) { to[out] = from[at]; });
    std::fill_n(to, g.windows_size(), T(0));
    for_each_share(g, [&](std::int64_t out, std::int64_t at, double share) {
      for (std::int64_t k = 0; k < g.images[3]; ++k) to[out + k] += from[at + k] * static_cast<T>(share);
    });
  });
}

template <class T>
void run_max_pool_grad(kernel_context& c, const attributes& attrs) {
  const any_tensor x = c.input(0), dy = c.input(1);
  const image_geometry g = pooling_geometry(attrs, x.shape());
  expect_windows(dy, g);
  const any_tensor dx = c.allocate(0, x.dtype(), g.images);
  for_each_image(c, g, [=](std::int64_t n) {
    T* const to = dx.data<T>() + n * g.image_size();
    const T* const from = dy.data<T>() + n * g.windows_size();
    std::fill_n(to, g.image_size(), T(0));
    for_each_maximum(g, x.data<T>() + n * g.image_size(),
                     [&](std::int64_t out, std::int64_t at) { to[at] += from[out]; });
  });
}

template <class T>
void run_max_pool_grad_grad(kernel_context& c, const attributes& attrs) {
  const any_tensor x = c.input(0), values = c.input(1);
  const image_geometry g = pooling_geometry(attrs, x.shape());
  expect_images(values, g);
  const any_tensor y = c.allocate(0, x.dtype(), g.windows);
  for_each_image(c, g, [=](std::int64_t n) {
    const T* const from = values.data<T>() + n * g.image_size();
    T* const to = y.data<T>() + n * g.windows_size();
    for_each_maximum(g, x.data<T>() + n * g.image_size(),
                     [&](std::int64_t out, std::int64_t at) { to[out] = from[at]; });
  });
}

template <class T>
void run_avg_pool_grad(kernel_context& c, const attributes& attrs) {
  const any_tensor x = c.input(0), dy = c.input(1);
  const image_geometry g = pooling_geometry(attrs, x.shape());
  expect_windows(dy, g);
  const any_tensor dx = c.allocate(0, x.dtype(), g.images);
  for_each_image(c, g, [=](std::int64_t n) {
    T* const to = dx.data<T>() + n * g.image_size();
    const T* const from = dy.data<T>() + n * g.windows_size();
    std::fill_n(to, g.image_size(), T(0));
    for_each_share(g, [&](std::int64_t out, std::int64_t at, double share) {
      for (std::int64_t k = 0; k < g.images[3]; ++k) to[at + k] += from[out + k] * static_cast<T>(share);
    });
  });
}

// Makes a kernel for float or double of body.operator()<T>(context, attributes).
template <class Body>
std::unique_ptr<kernel> make_image_kernel(const kernel_setup& setup, Body body) {
  const auto with = [&]<class T>() {
    return make_function_kernel(
        [body, attrs = setup.attrs()](kernel_context& c) { body.template operator()<T>(c, attrs); }, true);
  };
  return setup.input(0).dtype == dtype::float64 ? with.template operator()<double>()
                                                : with.template operator()<float>();
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(conv2d, const kernel_setup& setup) {
  return std::make_unique<detail::convolution_kernel>(detail::conv_pass::forward, setup.attrs());
}
inline std::unique_ptr<kernel> make_kernel(conv2d_backprop_input, const kernel_setup& setup) {
  return std::make_unique<detail::convolution_kernel>(detail::conv_pass::by_images, setup.attrs());
}
inline std::unique_ptr<kernel> make_kernel(conv2d_backprop_filter, const kernel_setup& setup) {
  return std::make_unique<detail::convolution_kernel>(detail::conv_pass::by_filters, setup.attrs());
}

inline std::unique_ptr<kernel> make_kernel(max_pool, const kernel_setup& setup) {
  return detail::make_image_kernel(
      setup, []<class T>(kernel_context& c, const attributes& a) { detail::run_pool<T>(c, a, false); });
}
inline std::unique_ptr<kernel> make_kernel(avg_pool, const kernel_setup& setup) {
  return detail::make_image_kernel(
      setup, []<class T>(kernel_context& c, const attributes& a) { detail::run_pool<T>(c, a, true); });
}
inline std::unique_ptr<kernel> make_kernel(max_pool_grad, const kernel_setup& setup) {
  return detail::make_image_kernel(
      setup, []<class T>(kernel_context& c, const attributes& a) { detail::run_max_pool_grad<T>(c, a); });
}
inline std::unique_ptr<kernel> make_kernel(max_pool_grad_grad, const kernel_setup& setup) {
  return detail::make_image_kernel(
      setup, []<class T>(kernel_context& c, const attributes& a) { detail::run_max_pool_grad_grad<T>(c, a); });
}
inline std::unique_ptr<kernel> make_kernel(avg_pool_grad, const kernel_setup& setup) {
  return detail::make_image_kernel(
      setup, []<class T>(kernel_context& c, const attributes& a) { detail::run_avg_pool_grad<T>(c, a); });
}

}}}  // namespace pinion::v0::op
