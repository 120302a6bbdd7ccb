// The kernels of products in layers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <pinion/op/layer/checks.hpp>
#include <pinion/op/layer/op.hpp>
#include <pinion/op/matmul/cpu.hpp>
#include <pinion/op/reduce/shared.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The sums of the rows of a matrix, or those of its columns if it is transposed, added up in their order.
template <class T>
void add_rows(const T* x, std::int64_t rows, std::int64_t columns, bool transposed, T* sums) {
  std::fill_n(sums, columns, T{});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += x[transposed ? j * rows + i : i * columns + j];
}

// A kernel that calls f.operator()<T>(context, product) with the product of its first two inputs, output 0.
template <class F>
std::unique_ptr<kernel> make_product_kernel(const kernel_setup& setup, F f) {
  const bool ta = setup.attrs().get_or("transpose_a", false), tb = setup.attrs().get_or("transpose_b", false);
  const dtype compute = compute_of(setup.attrs());
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    const auto run = [ta, tb, compute, f](kernel_context& c) {
      const auto &a = c.input(0), &b = c.input(1);
      const auto [m, n, k] = sides_of_product(a.shape(), ta, b.shape(), tb);
      const auto& to = c.allocate(0, a.dtype(), {m, n});
      product<T> p{a.data<T>(), b.data<T>(), to.data<T>(), m, n, k, ta, tb};
      p.compute = compute;
      f.template operator()<T>(c, p);
    };
    return make_function_kernel(run, true);
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(biased_matmul, const kernel_setup& setup) {
  const bool relu = setup.attrs().get_or("relu", false);
  const auto run = [relu, s = &setup.services]<class T>(kernel_context& c, const product<T>& p) {
    detail::expect_bias(c.input(2).shape(), p.n);
    if (c.outputs.size() > 1) c.allocate(1, dtype::uint8, {0, 0});  // the mask, which no library notes
    const product_end<T> end{c.input(2).template data<T>(), relu};
    c.launch([p, end, s] { detail::multiply_in_blocks(p, end, *s); });
  };
  return detail::make_product_kernel(setup, run);
}

inline std::unique_ptr<kernel> make_kernel(matmul_relu_gradient, const kernel_setup& setup) {
  return detail::make_product_kernel(setup, [s = &setup.services]<class T>(kernel_context& c, const product<T>& p) {
    detail::expect_relu(c.input(2).shape(), p.m, p.n);
    const product_end<T> end{.gate = c.input(2).template data<T>()};
    c.launch([p, end, sums = c.allocate(1, dtype_of<T>, {p.n}).template data<T>(), s] {
      detail::multiply_in_blocks(p, end, *s);
      detail::add_rows(p.c, p.m, p.n, false, sums);
    });
  });
}

inline std::unique_ptr<kernel> make_kernel(matmul_bias_gradient, const kernel_setup& setup) {
  const bool left = setup.attrs().get_or("sums_left", false);
  const auto run = [left, s = &setup.services]<class T>(kernel_context& c, const product<T>& p) {
    c.launch([p, left, sums = c.allocate(1, dtype_of<T>, {left ? p.m : p.n}).template data<T>(), s] {
      detail::multiply_in_blocks(p, product_end<T>{}, *s);
      left ? detail::add_rows(p.a, p.k, p.m, !p.transpose_a, sums)
           : detail::add_rows(p.b, p.k, p.n, p.transpose_b, sums);
    });
  };
  return detail::make_product_kernel(setup, run);
}

}}}  // namespace pinion::v0::op
