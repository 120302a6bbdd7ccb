// Kernels of bits, on hosts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include <pinion/op/bits/op.hpp>
#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace bits {

// The places that a count moves bits of T by.
template <class T>
int places(T count) {
  return static_cast<int>(std::clamp<std::int64_t>(static_cast<std::int64_t>(count), 0, 8 * sizeof(T) - 1));
}

// The function of an op on two numbers.
template <class T>
T value(bitwise_and, T x, T y) {
  return static_cast<T>(x & y);
}
template <class T>
T value(bitwise_or, T x, T y) {
  return static_cast<T>(x | y);
}
template <class T>
T value(bitwise_xor, T x, T y) {
  return static_cast<T>(x ^ y);
}
template <class T>
T value(left_shift, T x, T count) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << places(count));
}
template <class T>
T value(right_shift, T x, T count) {
  return static_cast<T>(x >> places(count));
}

// Calls body(element, x, step of x, y, step of y, n) for runs of elements of a broadcast that make up [first, last).
template <class Body>
void for_runs(const broadcast_walk& walk, std::int64_t first, std::int64_t last, const Body& body) {
  const std::int64_t inner = walk.inner(), step_x = walk.advances(0), step_y = walk.advances(1);
  for (auto at = walk.cursor(first / inner); first < last; at.next()) {
    const std::int64_t in_row = first % inner, n = std::min(last - first, inner - in_row);
    body(first, at.offset(0) + in_row * step_x, step_x, at.offset(1) + in_row * step_y, step_y, n);
    first += n;
  }
}

template <class Op, class T>
void run_binary(kernel_context& c) {
  const any_tensor a = c.input(0), b = c.input(1);
  shape space;
  if (!broadcast(a.shape(), b.shape(), space))
    throw error(errc::invalid_argument, "shapes " + to_string(a.shape()) + " and " + to_string(b.shape()) +
                                            " do not broadcast: aligned at the last axis, extents agree or one of "
                                            "them is 1");
  const any_tensor y = c.allocate(0, a.dtype(), space);
  if (y.count() == 0) return;
  c.launch([a, b, y, walk = broadcast_walk(space, {a.shape(), b.shape()}), services = c.services] {
    in_ranges(*services, y.count(), 1, [&](std::int64_t first, std::int64_t last) {
      for_runs(walk, first, last,
               [&](std::int64_t e, std::int64_t at_a, std::int64_t step_a, std::int64_t at_b, std::int64_t step_b,
                   std::int64_t n) {
                 const T *const p = a.data<T>() + at_a, *const q = b.data<T>() + at_b;
                 for (std::int64_t i = 0; i < n; ++i) y.data<T>()[e + i] = value(Op{}, p[i * step_a], q[i * step_b]);
               });
    });
  });
}

// Runs a function of single elements of type T, with results of type Y.
template <class T, class Y, class F>
void run_unary(kernel_context& c, F function) {
  const any_tensor x = c.input(0), y = c.allocate(0, dtype_of<Y>, x.shape());
  c.launch([x, y, function, services = c.services] {
    in_ranges(*services, x.count(), 1, [&](std::int64_t first, std::int64_t last) {
      std::transform(x.data<T>() + first, x.data<T>() + last, y.data<Y>() + first, function);
    });
  });
}

template <class Op>
std::unique_ptr<kernel> make_binary(const kernel_setup& setup) {
  return visit_plain<on_bits::types>(setup.input(0).dtype,
                                     []<class T>() { return make_function_kernel(&run_binary<Op, T>); });
}

}}}}  // namespace pinion::v0::op::bits

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(bitwise_and, const kernel_setup& setup) {
  return bits::make_binary<bitwise_and>(setup);
}
inline std::unique_ptr<kernel> make_kernel(bitwise_or, const kernel_setup& setup) {
  return bits::make_binary<bitwise_or>(setup);
}
inline std::unique_ptr<kernel> make_kernel(bitwise_xor, const kernel_setup& setup) {
  return bits::make_binary<bitwise_xor>(setup);
}
inline std::unique_ptr<kernel> make_kernel(left_shift, const kernel_setup& setup) {
  return bits::make_binary<left_shift>(setup);
}
inline std::unique_ptr<kernel> make_kernel(right_shift, const kernel_setup& setup) {
  return bits::make_binary<right_shift>(setup);
}

inline std::unique_ptr<kernel> make_kernel(invert, const kernel_setup& setup) {
  return visit_plain<on_bits::types>(setup.input(0).dtype, []<class T>() {
    return make_function_kernel(
        [](kernel_context& c) { bits::run_unary<T, T>(c, [](T x) { return static_cast<T>(~x); }); });
  });
}

inline std::unique_ptr<kernel> make_kernel(population_count, const kernel_setup& setup) {
  return visit_plain<on_bits::types>(setup.input(0).dtype, []<class T>() {
    return make_function_kernel([](kernel_context& c) {
      bits::run_unary<T, std::uint8_t>(
          c, [](T x) { return static_cast<std::uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x))); });
    });
  });
}

}}}  // namespace pinion::v0::op
