// Kernels of paddings that repeat elements of the tensor, on hosts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pinion/op/slice/cpu.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/opkit/copy_run.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// An axis of n elements, padded to `total`: which element stands at each place, and at which places each one stands.
struct mirrored_axis {
  std::int64_t n, before, total;
  bool is_edge;               // the first and the last element are repeated, each alone
  std::int64_t repeats_edge;  // 1 where a mirrored side begins with the edge

  std::int64_t source(std::int64_t place) const {
    const std::int64_t i = place - before;
    if (is_edge) return std::clamp<std::int64_t>(i, 0, n - 1);
    return i < 0 ? -i - repeats_edge : i < n ? i : 2 * (n - 1) + repeats_edge - i;
  }
  // Calls f(place) for each place of an element.
  template <class F>
  void for_places(std::int64_t element, F&& f) const {
    const std::int64_t middle = before + element;
    if (is_edge) {
      const std::int64_t last = element == n - 1 ? total - 1 : middle;
      for (std::int64_t place = element == 0 ? 0 : middle; place <= last; ++place) f(place);
      return;
    }
    f(middle);
    const std::int64_t left = before - element - repeats_edge, right = middle + 2 * (n - 1 - element) + repeats_edge;
    if (left >= 0 && left < before) f(left);
    if (right >= before + n && right < total) f(right);
  }
};

// A tensor x and the padded one, y, line by line of their last axes.
class mirroring {
 public:
  // Throws invalid_argument where x cannot be padded so.
  mirroring(std::string_view op, const attributes& attrs, const shape& x) : x_(x), y_(mirrored(op, attrs, x)) {
    const std::string& mode = attrs.get<std::string>("mode");
    for (int i = 0; i < x.rank(); ++i)
      axes_.push_back({x[i], attrs.get<integers>("before")[static_cast<std::size_t>(i)], y_[i], mode == "EDGE",
                       mode == "SYMMETRIC" ? 1 : 0});
  }
  const shape& padded_shape() const { return y_; }

  template <class Element>
  void pad(const Element* x, Element* y, task_services& services) const {
    const mirrored_axis& inner = axes_.back();
    if (y_.count() == 0) return;
    in_ranges(services, y_.count() / inner.total, inner.total, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t line = first; line < last; ++line) {
        const Element* const from = x + source_line(line) * inner.n;
        Element* const to = y + line * inner.total;
        for (std::int64_t place = 0; place < inner.before; ++place) to[place] = from[inner.source(place)];
        copy_run(from, inner.n, to + inner.before);
        for (std::int64_t place = inner.before + inner.n; place < inner.total; ++place)
          to[place] = from[inner.source(place)];
      }
    });
  }

  // Each range of lines of dx is its own sum, in one order.
  template <class T>
  void add(const T* dy, T* dx, task_services& services) const {
    const mirrored_axis& inner = axes_.back();
    if (x_.count() == 0) return;
    in_ranges(services, x_.count() / inner.n, inner.total, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t line = first; line < last; ++line) {
        T* const to = dx + line * inner.n;
        std::fill_n(to, inner.n, T(0));
        for_lines_of(line, static_cast<int>(axes_.size()) - 1, 0, 1, [&](std::int64_t padded_line) {
          const T* const from = dy + padded_line * inner.total;
          for (std::int64_t i = 0; i < inner.n; ++i) to[i] += from[inner.before + i];
          for (std::int64_t place = 0; place < inner.before; ++place) to[inner.source(place)] += from[place];
          for (std::int64_t place = inner.before + inner.n; place < inner.total; ++place)
            to[inner.source(place)] += from[place];
        });
      }
    });
  }

 private:
  // The line of x that a line of y repeats.
  std::int64_t source_line(std::int64_t line) const {
    std::int64_t from = 0, distance = 1;
    for (std::size_t i = axes_.size() - 1; i-- > 0; line /= axes_[i].total, distance *= axes_[i].n)
      from += axes_[i].source(line % axes_[i].total) * distance;
    return from;
  }
  // Calls f(line) for each line of y that repeats a line of x, whose axes before `axis` are still to be looked at.
  template <class F>
  void for_lines_of(std::int64_t line, int axis, std::int64_t place, std::int64_t distance, const F& f) const {
    if (axis == 0) return f(place);
    const mirrored_axis& a = axes_[static_cast<std::size_t>(axis - 1)];
    a.for_places(line % a.n, [&](std::int64_t at) {
      for_lines_of(line / a.n, axis - 1, place + at * distance, distance * a.total, f);
    });
  }

  shape x_, y_;
  std::vector<mirrored_axis> axes_;
};

inline void run_mirror_pad(kernel_context& c, const attributes& attrs) {
  const any_tensor x = c.input(0);
  const mirroring all(mirror_pad::name, attrs, x.shape());
  if (all.padded_shape() == x.shape()) return void(c.outputs[0] = x);
  const any_tensor y = c.allocate(0, x.dtype(), all.padded_shape());
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, y, all, services = c.services] {
      all.pad(static_cast<const Element*>(x.raw()), static_cast<Element*>(y.raw()), *services);
    });
  });
}

template <class T>
void run_mirror_pad_grad(kernel_context& c, const attributes& attrs) {
  const any_tensor dy = c.input(0);
  const shape x = c.input(1).shape();
  const mirroring all(mirror_pad_grad::name, attrs, x);
  if (!(dy.shape() == all.padded_shape()))
    throw error(errc::invalid_argument,
                "a gradient of shape " + to_string(dy.shape()) + " does not fit " + to_string(x) + " padded");
  if (dy.shape() == x) return void(c.outputs[0] = dy);
  const any_tensor dx = c.allocate(0, dy.dtype(), x);
  c.launch([dy, dx, all, services = c.services] { all.add(dy.data<T>(), dx.data<T>(), *services); });
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(mirror_pad, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) { detail::run_mirror_pad(c, attrs); });
}

inline std::unique_ptr<kernel> make_kernel(mirror_pad_grad, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [attrs = setup.attrs()](kernel_context& c) { detail::run_mirror_pad_grad<T>(c, attrs); });
  });
}

}}}  // namespace pinion::v0::op
