// Kernels of boxes. One function, which copies a box of a tensor into another tensor, serves all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pinion/op/slice/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/copy_run.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

using offsets = std::array<std::int64_t, shape::max_rank>;

inline offsets offsets_of(const integers& numbers) {
  offsets at{};
  std::copy_n(numbers.begin(), std::min(numbers.size(), at.size()), at.begin());
  return at;
}

// A box in two tensors, row-major. The axes from `inner` on are contiguous in both, and are copied at once.
struct box_copy {
  shape from, to, box;
  offsets at_from{}, at_to{};

  template <class Element>
  void run(const Element* x, Element* y, task_services& services) const {
    if (box.count() == 0) return;
    int inner = box.rank();
    std::int64_t line = 1;
    while (inner > 0) {
      --inner;
      line *= box[inner];
      if (box[inner] != from[inner] || box[inner] != to[inner]) break;
    }
    if (inner == 0) {
      x += start(from, at_from, 0, 0), y += start(to, at_to, 0, 0);
      return in_ranges(services, line, 1,
                       [&](std::int64_t first, std::int64_t last) { copy_run(x + first, last - first, y + first); });
    }
    const std::int64_t rows = box[inner - 1], step_from = stride(from, inner), step_to = stride(to, inner);
    in_ranges(services, box.count() / line, line, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t end; first < last; first = end) {  // lines that are as far apart as the rows of an axis
        end = std::min(last, first - first % rows + rows);
        const Element* source = x + start(from, at_from, first, inner);
        Element* target = y + start(to, at_to, first, inner);
        for (std::int64_t i = first; i < end; ++i, source += step_from, target += step_to)
          copy_run(source, line, target);
      }
    });
  }

 private:
  // The elements of a tensor from one index of an axis to the next, where the axes from `inner` on are behind it.
  static std::int64_t stride(const shape& whole, int inner) {
    std::int64_t n = 1;
    for (int axis = inner; axis < whole.rank(); ++axis) n *= whole[axis];
    return n;
  }
  // The offset of the element at which a line of the box starts.
  std::int64_t start(const shape& whole, const offsets& at, std::int64_t line, int inner) const {
    std::int64_t element = 0, step = 1;
    for (int axis = box.rank() - 1; axis >= 0; --axis) {
      const std::int64_t index = axis >= inner ? 0 : line % box[axis];
      if (axis < inner) line /= box[axis];
      element += (index + at[static_cast<std::size_t>(axis)]) * step;
      step *= whole[axis];
    }
    return element;
  }
};

// Calls f.operator()<Element>() with a type of the size of a dtype's elements, or with std::string.
template <class F>
decltype(auto) visit_element(dtype type, F&& f) {
  if (type == dtype::string) return f.template operator()<std::string>();
  switch (size_of(type)) {
    case 1: return f.template operator()<std::uint8_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: return f.template operator()<std::uint32_t>();
  }
}

// Launches a copy of a box of x into y.
inline void launch_copy(kernel_context& c, const any_tensor& x, const any_tensor& y, const box_copy& copy) {
  visit_element(x.dtype(), [&]<class Element>() {
    c.launch([x, y, copy, services = c.services] {
      copy.run(static_cast<const Element*>(x.raw()), static_cast<Element*>(y.raw()), *services);
    });
  });
}

// Launches a fill of all elements with `number`; text becomes empty.
inline void launch_fill(kernel_context& c, const any_tensor& y, double number) {
  if (y.dtype() == dtype::string) return;  // a new tensor of text is empty
  visit_plain(y.dtype(), [&]<class T>() {
    c.launch([y, value = static_cast<T>(number)] { std::fill_n(y.data<T>(), y.count(), value); });
  });
}

// Cuts a tensor along an axis into outputs of the given shapes.
inline void cut_along(kernel_context& c, int axis, const std::vector<shape>& parts) {
  const any_tensor whole = c.input(0);
  box_copy copy{.from = whole.shape(), .to = {}, .box = {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    copy.to = copy.box = parts[i];
    if (c.wants(static_cast<int>(i)))
      launch_copy(c, whole, c.allocate(static_cast<int>(i), whole.dtype(), parts[i]), copy);
    copy.at_from[static_cast<std::size_t>(axis)] += parts[i][axis];
  }
}

inline void run_concat(kernel_context& c, std::int64_t attribute) {
  std::vector<shape> parts;
  for (const any_tensor& part : c.inputs) parts.push_back(part.shape());
  const shape whole = concatenated(parts, attribute);
  const auto axis = static_cast<std::size_t>(checked_axis(attribute, whole.rank()));
  const any_tensor y = c.allocate(0, c.input(0).dtype(), whole);
  box_copy copy{.from = {}, .to = whole, .box = {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    copy.from = copy.box = parts[i];
    launch_copy(c, c.inputs[i], y, copy);
    copy.at_to[axis] += parts[i][static_cast<int>(axis)];
  }
}

inline void run_slice(kernel_context& c, const shape& box, const integers& begin) {
  const any_tensor x = c.input(0);
  if (box == x.shape()) return void(c.outputs[0] = x);
  launch_copy(c, x, c.allocate(0, x.dtype(), box),
              {.from = x.shape(), .to = box, .box = box, .at_from = offsets_of(begin)});
}

// Puts x inside a tensor of a larger shape, with a number around it.
inline void run_pad(kernel_context& c, const shape& whole, const integers& begin, double around) {
  const any_tensor x = c.input(0);
  if (whole == x.shape()) return void(c.outputs[0] = x);
  const any_tensor y = c.allocate(0, x.dtype(), whole);
  launch_fill(c, y, around);
  launch_copy(c, x, y, {.from = x.shape(), .to = whole, .box = x.shape(), .at_from = {}, .at_to = offsets_of(begin)});
}

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

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(concat, const kernel_setup& setup) {
  return make_function_kernel(
      [axis = setup.attrs().get<std::int64_t>("axis")](kernel_context& c) { detail::run_concat(c, axis); });
}

inline std::unique_ptr<kernel> make_kernel(split, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const shape& x = c.input(0).shape();
    const std::vector<shape> parts(static_cast<std::size_t>(attrs.get<std::int64_t>("parts")),
                                   split::part_of(attrs, x));
    detail::cut_along(c, checked_axis(attrs.get<std::int64_t>("axis"), x.rank()), parts);
  });
}

inline std::unique_ptr<kernel> make_kernel(split_like, const kernel_setup& setup) {
  return make_function_kernel([attribute = setup.attrs().get<std::int64_t>("axis")](kernel_context& c) {
    std::vector<shape> parts;
    for (std::size_t i = 1; i < c.inputs.size(); ++i) parts.push_back(c.inputs[i].shape());
    const shape whole = detail::concatenated(parts, attribute);
    if (!(whole == c.input(0).shape()))
      throw error(errc::invalid_argument, "a tensor of shape " + to_string(c.input(0).shape()) +
                                              " is not made of parts that make " + to_string(whole));
    detail::cut_along(c, checked_axis(attribute, whole.rank()), parts);
  });
}

inline std::unique_ptr<kernel> make_kernel(slice, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const auto& begin = attrs.get<integers>("begin");
    detail::expect_one_each(slice::name, begin, c.input(0).shape(), "beginnings");
    detail::run_slice(c, detail::box_of(c.input(0).shape(), begin, attrs.get<integers>("size")), begin);
  });
}

inline std::unique_ptr<kernel> make_kernel(slice_like, const kernel_setup& setup) {
  return make_function_kernel([begin = setup.attrs().get<integers>("begin")](kernel_context& c) {
    detail::expect_inside(c.input(1).shape(), begin, c.input(0).shape());
    detail::run_slice(c, c.input(1).shape(), begin);
  });
}

inline std::unique_ptr<kernel> make_kernel(pad, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const auto& before = attrs.get<integers>("before");
    detail::expect_one_each(pad::name, before, c.input(0).shape(), "paddings");
    const shape whole = detail::padded(c.input(0).shape(), before, attrs.get<integers>("after"));
    detail::run_pad(c, whole, before, attrs.get_or("value", 0.0));
  });
}

inline std::unique_ptr<kernel> make_kernel(pad_like, const kernel_setup& setup) {
  return make_function_kernel([begin = setup.attrs().get<integers>("begin")](kernel_context& c) {
    detail::expect_inside(c.input(0).shape(), begin, c.input(1).shape());
    detail::run_pad(c, c.input(1).shape(), begin, 0);
  });
}

inline std::unique_ptr<kernel> make_kernel(tile, const kernel_setup& setup) {
  return make_function_kernel([multiples = setup.attrs().get<integers>("multiples")](kernel_context& c) {
    const any_tensor x = c.input(0);
    detail::expect_one_each(tile::name, multiples, x.shape(), "multiples");
    const any_tensor y = c.allocate(0, x.dtype(), detail::tiled(x.shape(), multiples));
    if (y.count() == 0) return;
    detail::visit_element(x.dtype(), [&]<class Element>() {
      c.launch([x, y, multiples] {
        detail::repeat(static_cast<const Element*>(x.raw()), static_cast<Element*>(y.raw()), x.shape(), multiples);
      });
    });
  });
}

inline std::unique_ptr<kernel> make_kernel(tile_grad, const kernel_setup& setup) {
  return make_function_kernel([multiples = setup.attrs().get<integers>("multiples")](kernel_context& c) {
    const any_tensor dy = c.input(0);
    const shape x = c.input(1).shape();
    detail::expect_one_each(tile_grad::name, multiples, x, "multiples");
    if (!(detail::tiled(x, multiples) == dy.shape()))
      throw error(errc::invalid_argument,
                  "a gradient of shape " + to_string(dy.shape()) + " does not fit " + to_string(x) + " tiled");
    const any_tensor dx = c.allocate(0, dy.dtype(), x);
    visit_plain(dy.dtype(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        c.launch([dy, dx] { detail::add_tiles(dy.data<T>(), dx.data<T>(), dy.shape(), dx.shape()); });
    });
  });
}

}}}  // namespace pinion::v0::op
