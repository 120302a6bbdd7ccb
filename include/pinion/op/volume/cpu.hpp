// Kernels of convolution and pooling of volumes. Floats are convolved by oneDNN where it was configured; doubles, and
// floats without it, by products with the windows of one depth laid out as rows of a matrix. Pools are plain loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <pinion/op/conv/parts.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/op/volume/geometry.hpp>
#include <pinion/op/volume/library.hpp>
#include <pinion/op/volume/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// ---- the windows of one depth as a matrix: [h' w', p q r c]

// Calls f(window's number within its depth, place of the volume, place of the window) for the windows of a depth.
template <class F>
void for_each_place_at_depth(const volume_geometry& g, std::int64_t depth, F&& f) {
  for (std::int64_t j = 0; j < g.windows[2]; ++j)
    for (std::int64_t k = 0; k < g.windows[3]; ++k)
      for_each_place(g, {depth, j, k},
                     [&](std::int64_t at, std::int64_t place) { f(j * g.windows[3] + k, at, place); });
}

template <class T>
void lay_out_windows(const volume_geometry& g, const T* volume, std::int64_t depth, std::vector<T>& rows) {
  const std::int64_t c = g.filters[3], row_size = g.window_size() * c;
  std::fill(rows.begin(), rows.end(), T(0));
  for_each_place_at_depth(g, depth, [&](std::int64_t window, std::int64_t at, std::int64_t place) {
    std::copy_n(volume + at * c, c, rows.data() + window * row_size + place * c);
  });
}

template <class T>
void add_windows_up(const volume_geometry& g, const std::vector<T>& rows, std::int64_t depth, T* volume) {
  const std::int64_t c = g.filters[3], row_size = g.window_size() * c;
  for_each_place_at_depth(g, depth, [&](std::int64_t window, std::int64_t at, std::int64_t place) {
    const T* const from = rows.data() + window * row_size + place * c;
    for (std::int64_t k = 0; k < c; ++k) volume[at * c + k] += from[k];
  });
}

// One pass over one depth of the windows of one volume. The operands point to the volume, and to the windows' depth.
template <class T>
void convolve_depth(conv_pass pass, const volume_geometry& g, std::int64_t depth, const T* a, const T* b, T* y,
                    std::vector<T>& rows) {
  const std::int64_t places = g.windows[2] * g.windows[3], out = g.windows[4], wide = g.window_size() * g.filters[3];
  if (pass == conv_pass::by_images) {
    gemm(product<T>{a, b, rows.data(), places, wide, out, false, true});
    return add_windows_up(g, rows, depth, y);
  }
  lay_out_windows(g, a, depth, rows);
  if (pass == conv_pass::forward) return gemm(product<T>{rows.data(), b, y, places, out, wide, false, false});
  product<T> sum{rows.data(), b, y, wide, out, places, true, false};
  sum.add = true;
  gemm(sum);
}

// One pass by matrix products. a, b, y are: forward (volumes, filters, windows); by_images (dy, filters, volumes);
// by_filters (volumes, dy, filters).
template <class T>
void convolve_by_products(conv_pass pass, const volume_geometry& g, const T* a, const T* b, T* y) {
  const bool forward = pass == conv_pass::forward, by_images = pass == conv_pass::by_images;
  std::vector<T> rows(static_cast<std::size_t>(g.windows[2] * g.windows[3] * g.window_size() * g.filters[3]));
  if (!forward) std::fill_n(y, g.result(pass).count(), T(0));
  for (std::int64_t n = 0; n < g.volumes[0]; ++n)
    for (std::int64_t depth = 0; depth < g.windows[1]; ++depth) {
      const std::int64_t at_volume = n * g.volume_size();
      const std::int64_t at_windows = n * g.windows_size() + depth * g.windows[2] * g.windows[3] * g.windows[4];
      convolve_depth(pass, g, depth, a + (by_images ? at_windows : at_volume),
                     b + (forward || by_images ? 0 : at_windows),
                     y + (forward     ? at_windows
                          : by_images ? at_volume
                                      : 0),
                     rows);
    }
}

// ---- convolution

// Convolves volumes, and keeps the oneDNN primitives for the shapes of the latest runs. Thread-safe.
class volume_convolver {
 public:
  explicit volume_convolver(conv_pass pass) : pass_(pass) {}

  template <class T>
  void run(const volume_geometry& g, const T* a, const T* b, T* y) {
    if (g.nothing()) return void(std::fill_n(y, g.result(pass_).count(), T(0)));
#if PINION_HAS_ONEDNN
    if constexpr (std::is_same_v<T, float>)
      if (!overruns_scratch(pass_, g)) {
        const auto call = calls_.of(g, [&] { return make_convolution(pass_, g); });
        return calling_onednn([&] { (*call)({const_cast<float*>(a), const_cast<float*>(b), y}); });
      }
#endif
    convolve_by_products(pass_, g, a, b, y);
  }

 private:
#if PINION_HAS_ONEDNN
  latest_calls<volume_geometry> calls_;
#endif
  conv_pass pass_;
};

// The extents of a convolution or of one of its gradients. Throws invalid_argument where they do not fit.
inline volume_geometry geometry_of_volumes(conv_pass pass, const attributes& attrs, const kernel_context& c) {
  const shape& volumes = c.input(pass == conv_pass::by_images ? 2 : 0).shape();
  const shape& filters = c.input(pass == conv_pass::by_filters ? 2 : 1).shape();
  if (volumes.rank() != 5 || filters.rank() != 5)
    throw error(errc::invalid_argument, "volumes of shape " + to_string(volumes) + " and filters of shape " +
                                            to_string(filters) + "; both have five axes");
  const shape windows = convolved_volumes(attrs, volumes, filters);
  if (pass != conv_pass::forward) {
    const shape& dy = c.input(pass == conv_pass::by_images ? 0 : 1).shape();
    if (!(dy == windows))
      throw error(errc::invalid_argument, "a gradient of shape " + to_string(dy) + " does not fit volumes of shape " +
                                              to_string(volumes) + " and filters of shape " + to_string(filters));
  }
  return {volumes, filters, windows, volume_window(attrs, {filters[0], filters[1], filters[2]})};
}

inline std::unique_ptr<kernel> make_volume_convolution(conv_pass pass, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [pass, &attrs = setup.attrs(), by = std::make_shared<volume_convolver>(pass)](kernel_context& c) {
          const volume_geometry g = geometry_of_volumes(pass, attrs, c);
          const any_tensor a = c.input(0), b = c.input(1), y = c.allocate(0, a.dtype(), g.result(pass));
          c.launch([=, services = c.services] {
            convolve_in_parts(*by, pass, g, a.data<T>(), b.data<T>(), y.data<T>(), *services);
          });
        },
        true);
  });
}

// ---- pooling

// The number in the volume of the first greatest element of a window, for each channel. NaN counts as less than any
// number.
template <class T>
void greatest_places(const volume_geometry& g, const T* volume, const std::array<std::int64_t, 3>& window,
                     std::vector<std::int64_t>& at) {
  std::fill(at.begin(), at.end(), std::int64_t{-1});
  for_each_place(g, window, [&](std::int64_t place, std::int64_t) {
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int64_t here = place * g.volumes[4] + static_cast<std::int64_t>(k);
      if (at[k] < 0 || volume[here] > volume[at[k]] || (volume[at[k]] != volume[at[k]] && volume[here] == volume[here]))
        at[k] = here;
    }
  });
}

// Calls f(window, its first output) for each window of a volume.
template <class F>
void for_each_window(const volume_geometry& g, F&& f) {
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < g.windows[1]; ++i)
    for (std::int64_t j = 0; j < g.windows[2]; ++j)
      for (std::int64_t k = 0; k < g.windows[3]; ++k, out += g.windows[4]) f(std::array<std::int64_t, 3>{i, j, k}, out);
}

// Calls f(output, greatest element) for each window and channel of a volume.
template <class T, class F>
void for_each_maximum(const volume_geometry& g, const T* volume, F&& f) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(g.volumes[4]));
  for_each_window(g, [&](const std::array<std::int64_t, 3>& window, std::int64_t out) {
    greatest_places(g, volume, window, at);
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] >= 0) f(out + static_cast<std::int64_t>(k), at[k]);
  });
}

// Calls f(first output, first element of the volume, share) for each element of each window. The shares of a window add
// up to 1.
template <class F>
void for_each_share(const volume_geometry& g, F&& f) {
  for_each_window(g, [&](const std::array<std::int64_t, 3>& window, std::int64_t out) {
    std::int64_t places = 0;
    for_each_place(g, window, [&](std::int64_t, std::int64_t) { ++places; });
    for_each_place(g, window, [&](std::int64_t at, std::int64_t) {
      f(out, at * g.volumes[4], 1.0 / static_cast<double>(places));
    });
  });
}

enum class volume_pool { maximum, maximum_gradient, maximum_values, mean, mean_gradient };

// The tensors of a pool: the volumes, what else it takes, and the result.
template <class T>
struct pool_of_volume {
  const T *x, *second;
  T* y;

  void run(volume_pool what, const volume_geometry& g) const {
    switch (what) {
      case volume_pool::maximum: return for_each_maximum(g, x, [&](auto out, auto at) { y[out] = x[at]; });
      case volume_pool::maximum_gradient:
        return for_each_maximum(g, x, [&](auto out, auto at) { y[at] += second[out]; });
      case volume_pool::maximum_values: return for_each_maximum(g, x, [&](auto out, auto at) { y[out] = second[at]; });
      case volume_pool::mean: return share(g, [&](auto out, auto at, T part) { y[out] += x[at] * part; });
      case volume_pool::mean_gradient: return share(g, [&](auto out, auto at, T part) { y[at] += second[out] * part; });
    }
  }

 private:
  template <class F>
  void share(const volume_geometry& g, F&& f) const {
    for_each_share(g, [&](std::int64_t out, std::int64_t at, double part) {
      for (std::int64_t k = 0; k < g.volumes[4]; ++k) f(out + k, at + k, static_cast<T>(part));
    });
  }
};

inline volume_geometry geometry_of_pool(const attributes& attrs, const any_tensor& volumes) {
  if (volumes.shape().rank() != 5)
    throw error(errc::invalid_argument, "volumes of shape " + to_string(volumes.shape()) + "; they have five axes");
  return {volumes.shape(), shape{}, pooled_volumes(attrs, volumes.shape()), window_of_pooling(attrs)};
}

template <class T>
void run_volume_pool(volume_pool what, const attributes& attrs, kernel_context& c) {
  const bool forward = what == volume_pool::maximum || what == volume_pool::mean,
             to_windows = forward || what == volume_pool::maximum_values;
  const any_tensor x = c.input(0), second = forward ? any_tensor{} : c.input(1);
  const volume_geometry g = geometry_of_pool(attrs, x);
  const shape& wanted = to_windows ? g.volumes : g.windows;
  if (!forward && !(second.shape() == wanted))
    throw error(errc::invalid_argument, "values of shape " + to_string(second.shape()) + " for a pooling of volumes " +
                                            to_string(g.volumes) + " to " + to_string(g.windows) + ", where " +
                                            to_string(wanted) + " fits");
  const any_tensor y = c.allocate(0, x.dtype(), to_windows ? g.windows : g.volumes);
  if (y.count() == 0) return;  // volumes without channels have windows, but nothing in them
  c.launch([=, services = c.services] {
    std::fill_n(y.data<T>(), y.count(), T(0));
    const std::int64_t volume = g.volume_size(), windows = g.windows_size();
    const std::int64_t work = volume + windows * std::min(g.window_size(), volume);
    in_ranges(*services, g.volumes[0], work, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last; ++n)
        pool_of_volume<T>{x.data<T>() + n * volume,
                          forward ? nullptr : second.data<T>() + n * (to_windows ? volume : windows),
                          y.data<T>() + n * (to_windows ? windows : volume)}
            .run(what, g);
    });
  });
}

inline std::unique_ptr<kernel> make_volume_pool(volume_pool what, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [what, &attrs = setup.attrs()](kernel_context& c) { run_volume_pool<T>(what, attrs, c); }, true);
  });
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(conv3d, const kernel_setup& setup) {
  return detail::make_volume_convolution(detail::conv_pass::forward, setup);
}
inline std::unique_ptr<kernel> make_kernel(conv3d_backprop_input, const kernel_setup& setup) {
  return detail::make_volume_convolution(detail::conv_pass::by_images, setup);
}
inline std::unique_ptr<kernel> make_kernel(conv3d_backprop_filter, const kernel_setup& setup) {
  return detail::make_volume_convolution(detail::conv_pass::by_filters, setup);
}
inline std::unique_ptr<kernel> make_kernel(max_pool3d, const kernel_setup& setup) {
  return detail::make_volume_pool(detail::volume_pool::maximum, setup);
}
inline std::unique_ptr<kernel> make_kernel(max_pool3d_grad, const kernel_setup& setup) {
  return detail::make_volume_pool(detail::volume_pool::maximum_gradient, setup);
}
inline std::unique_ptr<kernel> make_kernel(max_pool3d_grad_grad, const kernel_setup& setup) {
  return detail::make_volume_pool(detail::volume_pool::maximum_values, setup);
}
inline std::unique_ptr<kernel> make_kernel(avg_pool3d, const kernel_setup& setup) {
  return detail::make_volume_pool(detail::volume_pool::mean, setup);
}
inline std::unique_ptr<kernel> make_kernel(avg_pool3d_grad, const kernel_setup& setup) {
  return detail::make_volume_pool(detail::volume_pool::mean_gradient, setup);
}

}}}  // namespace pinion::v0::op
