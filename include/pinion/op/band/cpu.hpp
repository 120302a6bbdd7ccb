// Kernels of bands of matrices, on hosts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <pinion/op/band/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The diagonals of a band, both included. A value.
struct diagonals {
  std::int64_t lowest, highest;
  explicit diagonals(const attributes& attrs)
      : lowest(attrs.get_or("lowest", -farthest_diagonal)), highest(attrs.get_or("highest", farthest_diagonal)) {}
};

// Writes row i of a matrix with n columns.
template <class T>
void write_band(const T* x, T* y, std::int64_t i, std::int64_t n, const diagonals& band) {
  const std::int64_t first = std::clamp<std::int64_t>(i + band.lowest, 0, n);
  const std::int64_t last = std::clamp<std::int64_t>(i + band.highest + 1, first, n);
  std::fill(y, y + first, T(0));
  std::copy(x + first, x + last, y + first);
  std::fill(y + last, y + n, T(0));
}

template <class T>
void run_band_part(kernel_context& c, const diagonals& band) {
  const any_tensor x = c.input(0);
  expect_matrices(x.shape());
  const any_tensor y = c.allocate(0, x.dtype(), x.shape());
  c.launch([x, y, band, services = c.services] {
    if (x.count() == 0) return;
    const int rank = x.shape().rank();
    const std::int64_t m = x.shape()[rank - 2], n = x.shape()[rank - 1];
    in_ranges(*services, x.count() / n, n, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        write_band(x.data<T>() + row * n, y.data<T>() + row * n, row % m, n, band);
    });
  });
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(band_part, const kernel_setup& setup) {
  return visit_plain(setup.node.outputs[0].dtype, [&]<class T>() {
    return make_function_kernel(
        [band = detail::diagonals(setup.attrs())](kernel_context& c) { detail::run_band_part<T>(c, band); });
  });
}

}}}  // namespace pinion::v0::op
