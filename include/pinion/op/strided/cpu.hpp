// Kernels of elements at equal distances, on hosts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/slice/cpu.hpp>
#include <pinion/op/strided/box.hpp>
#include <pinion/op/strided/op.hpp>
#include <pinion/op/strided/spec.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/copy_run.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Launches y = the box of x.
inline void launch_take(kernel_context& c, const any_tensor& x, const any_tensor& y, const strided_box& box) {
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, y, box, services = c.services] {
      const Element* const from = static_cast<const Element*>(x.raw());
      Element* const to = static_cast<Element*>(y.raw());
      in_ranges(*services, y.count(), 1, [&](std::int64_t first, std::int64_t last) {
        box.for_lines(first, last, [&](std::int64_t e, std::int64_t place, std::int64_t n, std::int64_t step) {
          if (step == 1) return copy_run(from + place, n, to + e);
          for (std::int64_t i = 0; i < n; ++i) to[e + i] = from[place + i * step];
        });
      });
    });
  });
}

// Launches y = zeros, and texts without letters, with the elements of x in the box.
inline void launch_put(kernel_context& c, const any_tensor& x, const any_tensor& y, const strided_box& box) {
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, y, box, services = c.services] {
      const Element* const from = static_cast<const Element*>(x.raw());
      Element* const to = static_cast<Element*>(y.raw());
      in_ranges(*services, y.count(), 1,
                [&](std::int64_t first, std::int64_t last) { std::fill(to + first, to + last, Element()); });
      in_ranges(*services, x.count(), 1, [&](std::int64_t first, std::int64_t last) {
        box.for_lines(first, last, [&](std::int64_t e, std::int64_t place, std::int64_t n, std::int64_t step) {
          if (step == 1) return copy_run(from + e, n, to + place);
          for (std::int64_t i = 0; i < n; ++i) to[place + i * step] = from[e + i];
        });
      });
    });
  });
}

inline void run_strided_slice(kernel_context& c, const strided_spec& spec) {
  const any_tensor x = c.input(0);
  const std::vector<axis_range> ranges = spec.ranges(x.shape());
  const strided_box box(ranges, x.shape());
  if (box.is_all_of(x.count())) return void(c.outputs[0] = x.reshaped(sliced_shape(ranges)));
  launch_take(c, x, c.allocate(0, x.dtype(), sliced_shape(ranges)), box);
}

inline void run_strided_slice_grad(kernel_context& c, const strided_spec& spec, const shape& like) {
  const any_tensor dy = c.input(0);
  const std::vector<axis_range> ranges = spec.ranges(like);
  expect_sliced(dy.shape(), sliced_shape(ranges), like);
  const strided_box box(ranges, like);
  if (box.is_all_of(like.count())) return void(c.outputs[0] = dy.reshaped(like));
  launch_put(c, dy, c.allocate(0, dy.dtype(), like), box);
}

inline void run_reverse(kernel_context& c, const integers& axes) {
  const any_tensor x = c.input(0);
  std::vector<axis_range> ranges;
  for (int i = 0; i < x.shape().rank(); ++i) ranges.push_back({.axis = i, .size = x.shape()[i]});
  for (const int axis : reversed_axes(axes, x.shape())) {
    axis_range& range = ranges[static_cast<std::size_t>(axis)];
    range.begin = range.size - 1, range.step = -1;
  }
  const strided_box box(ranges, x.shape());
  if (box.is_all_of(x.count())) return void(c.outputs[0] = x);
  launch_take(c, x, c.allocate(0, x.dtype(), x.shape()), box);
}

inline void run_broadcast_to(kernel_context& c, const shape& to) {
  any_tensor x = c.input(0);
  expect_broadcast(x.shape(), to);
  shape aligned;
  for (int i = x.shape().rank(); i < to.rank(); ++i) aligned.push_back(1);
  for (const std::int64_t n : x.shape().dims()) aligned.push_back(n);
  x = x.reshaped(aligned);
  std::vector<axis_range> ranges;
  for (int i = 0; i < to.rank(); ++i) ranges.push_back({.axis = i, .step = aligned[i] == to[i] ? 1 : 0, .size = to[i]});
  const strided_box box(ranges, aligned);
  if (box.is_all_of(x.count())) return void(c.outputs[0] = x.reshaped(to));
  launch_take(c, x, c.allocate(0, x.dtype(), to), box);
}

// Where the elements of a rolled tensor come from. Axes behind the last one that is rolled are one run of elements.
class rolled_axes {
 public:
  // Requires: x has elements.
  rolled_axes(const integers& shifts, const integers& axes, const shape& x) : x_(x) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const int axis = checked_axis(axes[i], x.rank());
      std::int64_t& shift = shifts_[static_cast<std::size_t>(axis)];
      shift = (shift + shifts[i] % x[axis] + x[axis]) % x[axis];
    }
    while (last_ > 0 && shifts_[static_cast<std::size_t>(last_ - 1)] == 0) run_ *= x[--last_];
  }
  bool is_none() const { return last_ == 0; }

  // Calls f(element, from, n) for runs that make up the elements [first, last) of the result.
  template <class F>
  void for_runs(std::int64_t first, std::int64_t last, F&& f) const {
    const std::int64_t line = x_[last_ - 1] * run_, moved = shifts_[static_cast<std::size_t>(last_ - 1)] * run_;
    for (std::int64_t n = 0; first < last; first += n) {
      const std::int64_t inner = first % line, end = inner < moved ? moved : line;
      n = std::min(last - first, end - inner);
      f(first, start(first / line) * line + inner + (inner < moved ? line - moved : -moved), n);
    }
  }

 private:
  // The line of x that a line of the result comes from.
  std::int64_t start(std::int64_t line) const {
    std::int64_t from = 0, distance = 1;
    for (int axis = last_ - 1; axis-- > 0; line /= x_[axis], distance *= x_[axis])
      from += (line % x_[axis] + x_[axis] - shifts_[static_cast<std::size_t>(axis)]) % x_[axis] * distance;
    return from;
  }

  shape x_;
  offsets shifts_{};
  int last_ = x_.rank();  // one behind the last axis that is rolled
  std::int64_t run_ = 1;
};

inline void run_roll(kernel_context& c, const integers& shifts, const integers& axes) {
  const any_tensor x = c.input(0);
  for (const std::int64_t axis : axes) checked_axis(axis, x.shape().rank());
  if (x.count() == 0) return void(c.outputs[0] = x);
  const rolled_axes rolled(shifts, axes, x.shape());
  if (rolled.is_none()) return void(c.outputs[0] = x);
  const any_tensor y = c.allocate(0, x.dtype(), x.shape());
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, y, rolled, services = c.services] {
      const Element* const from = static_cast<const Element*>(x.raw());
      Element* const to = static_cast<Element*>(y.raw());
      in_ranges(*services, y.count(), 1, [&](std::int64_t first, std::int64_t last) {
        rolled.for_runs(first, last,
                        [&](std::int64_t e, std::int64_t place, std::int64_t n) { copy_run(from + place, n, to + e); });
      });
    });
  });
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(strided_slice, const kernel_setup& setup) {
  return make_function_kernel(
      [spec = detail::strided_spec(setup.attrs())](kernel_context& c) { detail::run_strided_slice(c, spec); });
}

inline std::unique_ptr<kernel> make_kernel(strided_slice_grad, const kernel_setup& setup) {
  return make_function_kernel([spec = detail::strided_spec(setup.attrs())](kernel_context& c) {
    detail::run_strided_slice_grad(c, spec, c.input(1).shape());
  });
}

inline std::unique_ptr<kernel> make_kernel(reverse, const kernel_setup& setup) {
  return make_function_kernel(
      [axes = setup.attrs().get<integers>("axes")](kernel_context& c) { detail::run_reverse(c, axes); });
}

inline std::unique_ptr<kernel> make_kernel(roll, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    detail::run_roll(c, attrs.get<integers>("shifts"), attrs.get<integers>("axes"));
  });
}

inline std::unique_ptr<kernel> make_kernel(broadcast_to, const kernel_setup& setup) {
  return make_function_kernel(
      [to = setup.attrs().get<shape>("shape")](kernel_context& c) { detail::run_broadcast_to(c, to); });
}

}}}  // namespace pinion::v0::op
