// Kernels of boxes on hosts. One function, which copies a box of a tensor into another tensor, serves most of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pinion/op/slice/boxes.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/opkit/copy_run.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Copies a box, whose innermost axes are copied at once where they are contiguous in both tensors.
struct box_lines {
  const box_copy& of;
  int inner;  // the axes from here on are contiguous

  // The elements of a tensor from one index of an axis to the next, where the axes from `inner` on are behind it.
  std::int64_t stride(const shape& whole) const {
    std::int64_t n = 1;
    for (int axis = inner; axis < whole.rank(); ++axis) n *= whole[axis];
    return n;
  }
  // The offset of the element at which a line of the box starts.
  std::int64_t start(const shape& whole, const offsets& at, std::int64_t line) const {
    std::int64_t element = 0, step = 1;
    for (int axis = of.box.rank() - 1; axis >= 0; --axis) {
      const std::int64_t index = axis >= inner ? 0 : line % of.box[axis];
      if (axis < inner) line /= of.box[axis];
      element += (index + at[static_cast<std::size_t>(axis)]) * step;
      step *= whole[axis];
    }
    return element;
  }
};

template <class Element>
void copy_box(const box_copy& of, const Element* x, Element* y, task_services& services) {
  if (of.box.count() == 0) return;
  int inner = of.box.rank();
  std::int64_t line = 1;
  while (inner > 0) {
    --inner;
    line *= of.box[inner];
    if (of.box[inner] != of.from[inner] || of.box[inner] != of.to[inner]) break;
  }
  const box_lines lines{of, inner};
  if (inner == 0) {
    x += lines.start(of.from, of.at_from, 0), y += lines.start(of.to, of.at_to, 0);
    return in_ranges(services, line, 1,
                     [&](std::int64_t first, std::int64_t last) { copy_run(x + first, last - first, y + first); });
  }
  const std::int64_t rows = of.box[inner - 1], step_from = lines.stride(of.from), step_to = lines.stride(of.to);
  in_ranges(services, of.box.count() / line, line, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t end; first < last; first = end) {  // lines that are as far apart as the rows of an axis
      end = std::min(last, first - first % rows + rows);
      const Element* source = x + lines.start(of.from, of.at_from, first);
      Element* target = y + lines.start(of.to, of.at_to, first);
      for (std::int64_t i = first; i < end; ++i, source += step_from, target += step_to) copy_run(source, line, target);
    }
  });
}

// Launches a fill of all elements with `number`; text becomes empty.
inline void launch_fill(kernel_context& c, const any_tensor& y, double number) {
  if (y.dtype() == dtype::string) return;  // a new tensor of text is empty
  visit_plain<dtypes::moved>(y.dtype(), [&]<class T>() {
    c.launch([y, value = static_cast<T>(number)] { std::fill_n(y.data<T>(), y.count(), value); });
  });
}

// Boxes on hosts.
struct host_boxes {
  static void copy(kernel_context& c, const any_tensor& x, const any_tensor& y, const box_copy& box) {
    visit_element(x.dtype(), [&]<class Element>() {
      c.launch([x, y, box, services = c.services] {
        copy_box(box, static_cast<const Element*>(x.raw()), static_cast<Element*>(y.raw()), *services);
      });
    });
  }
  static void cut(kernel_context& c, const any_tensor& whole, int axis, const std::vector<box_part>& parts) {
    for (const box_part& part : parts) copy(c, whole, part.tensor, part.out_of(whole.shape(), axis));
  }
  static void join(kernel_context& c, const std::vector<box_part>& parts, const any_tensor& whole, int axis) {
    for (const box_part& part : parts) copy(c, part.tensor, whole, part.into(whole.shape(), axis));
  }
  static void pad(kernel_context& c, const any_tensor& x, const any_tensor& y, const offsets& at, double around) {
    launch_fill(c, y, around);
    copy(c, x, y, {.from = x.shape(), .to = y.shape(), .box = x.shape(), .at_from = {}, .at_to = at});
  }
};

// Repeats along one axis after the other, the last one first, within the result: each axis copies what is there.
template <class Element>
void repeat(const Element* x, Element* y, const shape& from, const integers& multiples) {
  const int rank = from.rank();
  std::vector<std::int64_t> step(static_cast<std::size_t>(rank) + 1, 1), index(static_cast<std::size_t>(rank), 0);
  for (int i = rank; i-- > 0;) {
    const auto k = static_cast<std::size_t>(i);
    step[k] = step[k + 1] * from[i] * multiples[k];
  }
  const std::int64_t line = rank == 0 ? 1 : from[rank - 1];
  for (std::int64_t e = 0; e < from.count(); e += line) {  // each line of x to its first place
    std::int64_t rest = e / line, at = 0;
    for (int i = rank - 1; i-- > 0;) {
      at += rest % from[i] * step[static_cast<std::size_t>(i) + 1];
      rest /= from[i];
    }
    std::copy_n(x + e, line, y + at);
  }
  for (int axis = rank; axis-- > 0;) {
    const auto k = static_cast<std::size_t>(axis);
    const std::int64_t once = from[axis] * step[k + 1];
    std::int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= from[i];
    for (std::int64_t o = 0; o < outer; ++o) {
      std::int64_t rest = o, at = 0;
      for (int i = axis; i-- > 0;) {
        at += rest % from[i] * step[static_cast<std::size_t>(i) + 1];
        rest /= from[i];
      }
      for (std::int64_t copy = 1; copy < multiples[k]; ++copy) std::copy_n(y + at, once, y + at + copy * once);
    }
  }
}

// Adds each element of dy to the element of dx that it was copied from.
template <class T>
void add_tiles(const T* dy, T* dx, const shape& from, const shape& x) {
  std::fill_n(dx, x.count(), T(0));
  const std::int64_t line = x.rank() == 0 ? 1 : x[x.rank() - 1];
  for (std::int64_t e = 0; e < from.count(); e += line) {
    std::int64_t rest = e, at = 0, stride = 1;
    for (int i = x.rank(); i-- > 0;) {
      at += rest % from[i] % x[i] * stride;
      rest /= from[i];
      stride *= x[i];
    }
    for (std::int64_t i = 0; i < line; ++i) dx[at + i] += dy[e + i];
  }
}

inline void run_tile(kernel_context& c, const integers& multiples) {
  const any_tensor x = c.input(0);
  expect_one_each(tile::name, multiples, x.shape(), "multiples");
  const any_tensor y = c.allocate(0, x.dtype(), tiled(x.shape(), multiples));
  if (y.count() == 0) return;
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, y, multiples] {
      repeat(static_cast<const Element*>(x.raw()), static_cast<Element*>(y.raw()), x.shape(), multiples);
    });
  });
}

// Runs the gradient of a tile of a tensor of shape x.
inline void run_tile_grad(kernel_context& c, const integers& multiples, const shape& x) {
  const any_tensor dy = c.input(0);
  expect_tiles(dy.shape(), x, multiples);
  const any_tensor dx = c.allocate(0, dy.dtype(), x);
  visit_plain(dy.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      c.launch([dy, dx] { add_tiles(dy.data<T>(), dx.data<T>(), dy.shape(), dx.shape()); });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(concat, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(concat{}, setup);
}
inline std::unique_ptr<kernel> make_kernel(split, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(split{}, setup);
}
inline std::unique_ptr<kernel> make_kernel(split_like, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(split_like{}, setup);
}
inline std::unique_ptr<kernel> make_kernel(slice, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(slice{}, setup);
}
inline std::unique_ptr<kernel> make_kernel(slice_like, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(slice_like{}, setup);
}
inline std::unique_ptr<kernel> make_kernel(pad, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(pad{}, setup);
}
inline std::unique_ptr<kernel> make_kernel(pad_like, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::host_boxes>(pad_like{}, setup);
}

inline std::unique_ptr<kernel> make_kernel(tile, const kernel_setup& setup) {
  return make_function_kernel(
      [multiples = setup.attrs().get<integers>("multiples")](kernel_context& c) { detail::run_tile(c, multiples); });
}

inline std::unique_ptr<kernel> make_kernel(tile_grad, const kernel_setup& setup) {
  return make_function_kernel([multiples = setup.attrs().get<integers>("multiples")](kernel_context& c) {
    detail::run_tile_grad(c, multiples, c.input(1).shape());
  });
}

}}}  // namespace pinion::v0::op
