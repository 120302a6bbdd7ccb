// Kernels of norms of rows.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <pinion/op/norm/loops.hpp>
#include <pinion/op/norm/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace norm {

// x as rows of the axes that gamma has. Throws invalid_argument where it lacks them.
struct rows_of_norm {
  std::int64_t rows = 1, columns = 1;
  shape statistics;

  rows_of_norm(const shape& x, const shape& gamma) : statistics(x) {
    const int first = x.rank() - gamma.rank();
    bool fit = gamma.rank() >= 1 && first >= 0;
    for (int axis = 0; fit && axis < x.rank(); ++axis) {
      fit = axis < first || x[axis] == gamma[axis - first];
      (axis < first ? rows : columns) *= x[axis];
      if (axis >= first) statistics.set(axis, 1);
    }
    if (!fit)
      throw error(errc::invalid_argument, "gamma of shape " + to_string(gamma) + " for x of shape " + to_string(x) +
                                              "; it has the extents of the last axes, one or more");
  }
};

inline void expect_shape_of(const kernel_context& c, int i, const shape& wanted) {
  if (!(c.input(i).shape() == wanted))
    throw error(errc::invalid_argument, "input " + std::to_string(i) + " has shape " + to_string(c.input(i).shape()) +
                                            " where " + to_string(wanted) + " fits");
}

template <class T>
void run(kernel_context& c, bool centered, T epsilon) {
  const any_tensor x = c.input(0), gamma = c.input(1), beta = centered ? c.input(2) : any_tensor{};
  const rows_of_norm m(x.shape(), gamma.shape());
  if (centered) expect_shape_of(c, 2, gamma.shape());
  const any_tensor y = c.allocate(0, x.dtype(), x.shape());
  const any_tensor mean = centered ? c.allocate(1, x.dtype(), m.statistics) : any_tensor{};
  const any_tensor inverse = c.allocate(centered ? 2 : 1, x.dtype(), m.statistics);
  c.launch([x, gamma, beta, y, mean, inverse, m, centered, epsilon, services = c.services] {
    in_ranges(*services, m.rows, 2 * m.columns, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t at = first * m.columns;
      scalar::dispatch<loops::normalised_rows<T>>(
          x.data<T>() + at, gamma.data<T>(), centered ? beta.data<T>() : nullptr, y.data<T>() + at,
          centered ? mean.data<T>() + first : nullptr, inverse.data<T>() + first, m.columns, last - first, epsilon);
    });
  });
}

// The rows are cut into parts, whose sums for gamma and beta are added up behind. There are as many as suit the shape,
// whatever the number of threads.
template <class T>
void run_gradient(kernel_context& c, bool centered) {
  const any_tensor dy = c.input(0), x = c.input(1), gamma = c.input(2);
  const any_tensor mean = centered ? c.input(3) : any_tensor{}, inverse = c.input(centered ? 4 : 3);
  const rows_of_norm m(x.shape(), gamma.shape());
  expect_shape_of(c, 0, x.shape());
  for (int i = 3; i < (centered ? 5 : 4); ++i) expect_shape_of(c, i, m.statistics);
  const any_tensor dx = c.allocate(0, x.dtype(), x.shape()), dgamma = c.allocate(1, x.dtype(), gamma.shape());
  const any_tensor dbeta = centered ? c.allocate(2, x.dtype(), gamma.shape()) : any_tensor{};
  const std::int64_t parts = std::clamp<std::int64_t>(m.rows * m.columns >> 15, 1, 64), sums = centered ? 2 : 1;
  const any_tensor partial = c.scratch(x.dtype(), {parts, sums, m.columns});
  c.launch([=, services = c.services] {
    T* const part_sums = partial.data<T>();
    std::fill_n(part_sums, partial.count(), T(0));
    kernel_context::in_chunks(*services, parts, [&](std::int64_t part) {
      const std::int64_t first = m.rows * part / parts, last = m.rows * (part + 1) / parts, at = first * m.columns;
      T* const to = part_sums + part * sums * m.columns;
      scalar::dispatch<loops::norm_gradients<T>>(dy.data<T>() + at, x.data<T>() + at, gamma.data<T>(),
                                                 centered ? mean.data<T>() + first : nullptr, inverse.data<T>() + first,
                                                 dx.data<T>() + at, to, centered ? to + m.columns : nullptr, m.columns,
                                                 last - first);
    });
    for (std::int64_t k = 0; k < sums; ++k) {
      T* const total = (k == 0 ? dgamma : dbeta).template data<T>();
      std::fill_n(total, m.columns, T(0));
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t i = 0; i < m.columns; ++i) total[i] += part_sums[(part * sums + k) * m.columns + i];
    }
  });
}

inline std::unique_ptr<kernel> make_norm(const kernel_setup& setup, bool centered) {
  const auto epsilon = setup.attrs().get<double>("epsilon");
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([=](kernel_context& c) { run<T>(c, centered, static_cast<T>(epsilon)); }, true);
  });
}
inline std::unique_ptr<kernel> make_gradient(const kernel_setup& setup, bool centered) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([=](kernel_context& c) { run_gradient<T>(c, centered); }, true);
  });
}

}}}}}  // namespace pinion::v0::op::detail::norm

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(layer_norm, const kernel_setup& setup) {
  return detail::norm::make_norm(setup, true);
}
inline std::unique_ptr<kernel> make_kernel(layer_norm_gradient, const kernel_setup& setup) {
  return detail::norm::make_gradient(setup, true);
}
inline std::unique_ptr<kernel> make_kernel(rms_norm, const kernel_setup& setup) {
  return detail::norm::make_norm(setup, false);
}
inline std::unique_ptr<kernel> make_kernel(rms_norm_gradient, const kernel_setup& setup) {
  return detail::norm::make_gradient(setup, false);
}

}}}  // namespace pinion::v0::op
