// Kernels of gather and of its opposite, which adds rows up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <pinion/op/gather/op.hpp>
#include <pinion/op/kernel.hpp>
#include <pinion/op/ranges.hpp>
#include <pinion/op/reduce/cpu.hpp>

namespace pinion::inline v0::op {

namespace detail {

inline std::int64_t row_size(const shape& s) {
  std::int64_t n = 1;
  for (int i = 1; i < s.rank(); ++i) n *= s[i];
  return n;
}

template <class Index>
std::int64_t checked_index(const Index* indices, std::int64_t i, std::int64_t rows) {
  const auto index = static_cast<std::int64_t>(indices[i]);
  if (index < 0 || index >= rows)
    throw error(errc::invalid_argument, "index " + std::to_string(index) + " at position " + std::to_string(i) +
                                            " is not in [0, " + std::to_string(rows) + ")");
  return index;
}

template <class Index>
void run_gather(kernel_context& c) {
  const any_tensor params = c.input(0), indices = c.input(1);
  if (params.shape().rank() == 0) throw error(errc::invalid_argument, "Gather from a scalar");
  any_tensor& out = c.allocate(0, params.dtype(), with_row_of(indices.shape(), params.shape()));
  const auto bytes = static_cast<std::size_t>(row_size(params.shape())) * size_of(params.dtype());
  c.launch([from = static_cast<const std::byte*>(params.raw()), index = indices.data<Index>(),
            to = static_cast<std::byte*>(out.raw()), rows = params.shape()[0], n = indices.count(), bytes,
            services = c.services] {
    in_ranges(*services, n, static_cast<std::int64_t>(bytes / 4), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const auto at = static_cast<std::size_t>(checked_index(index, i, rows));
        std::memcpy(to + static_cast<std::size_t>(i) * bytes, from + at * bytes, bytes);
      }
    });
  });
}

using add_row_function = void (*)(const void* x, void* y, std::int64_t n);

inline add_row_function add_row_of(dtype type) {
  return visit_number(type, [&]<class T>() {
    return scalar::entries<loops::add_row<T>, const void*, void*, std::int64_t>[scalar::isa::best()];
  });
}

// Every thread owns a range of the result's rows and walks all indices, so rows are added in their order.
template <class Index>
void run_scatter_dense(kernel_context& c, add_row_function add_row) {
  const any_tensor indices = c.input(0), rows = c.input(1);
  const shape like = c.input(2).shape();
  if (!(rows.shape() == with_row_of(indices.shape(), like)))
    throw error(errc::invalid_argument, "rows of shape " + to_string(rows.shape()) + " at indices of shape " +
                                            to_string(indices.shape()) + " are not rows of a tensor of shape " +
                                            to_string(like));
  auto* const y = static_cast<std::byte*>(c.allocate(0, rows.dtype(), like).raw());
  const std::int64_t size = row_size(like), bytes = size * static_cast<std::int64_t>(size_of(rows.dtype()));
  c.launch([index = indices.data<Index>(), rows = static_cast<const std::byte*>(rows.raw()), y, count = indices.count(),
            m = like[0], size, bytes, add_row, services = c.services] {
    for (std::int64_t i = 0; i < count; ++i) checked_index(index, i, m);
    const std::int64_t parts = std::max<std::int64_t>(1, std::min<std::int64_t>(16, m * size >> 16));
    in_ranges(*services, parts, 1 << 15, [&](std::int64_t part, std::int64_t) {
      const std::int64_t first = m * part / parts, last = m * (part + 1) / parts;
      std::memset(y + first * bytes, 0, static_cast<std::size_t>((last - first) * bytes));
      for (std::int64_t i = 0; i < count; ++i)
        if (index[i] >= first && index[i] < last)
          add_row(rows + i * bytes, y + static_cast<std::int64_t>(index[i]) * bytes, size);
    });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(gather, const kernel_setup& setup) {
  if (setup.input(1).dtype == dtype::int64)
    return make_function_kernel([](kernel_context& c) { detail::run_gather<std::int64_t>(c); });
  return make_function_kernel([](kernel_context& c) { detail::run_gather<std::int32_t>(c); });
}

inline std::unique_ptr<kernel> make_kernel(scatter_dense, const kernel_setup& setup) {
  const auto add_row = detail::add_row_of(setup.input(1).dtype);
  if (setup.input(0).dtype == dtype::int64)
    return make_function_kernel([add_row](kernel_context& c) { detail::run_scatter_dense<std::int64_t>(c, add_row); });
  return make_function_kernel([add_row](kernel_context& c) { detail::run_scatter_dense<std::int32_t>(c, add_row); });
}

}  // namespace pinion::inline v0::op
