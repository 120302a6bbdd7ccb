// Boxes of tensors: the part of their kernels that is the same on every device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pinion/op/slice/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

using offsets = std::array<std::int64_t, shape::max_rank>;

inline offsets offsets_of(const integers& numbers) {
  offsets at{};
  std::copy_n(numbers.begin(), std::min(numbers.size(), at.size()), at.begin());
  return at;
}

// A box that is copied from one row-major tensor to another.
struct box_copy {
  shape from, to, box;
  offsets at_from{}, at_to{};
};

// Throws invalid_argument where a gradient is not that of x repeated.
inline void expect_tiles(const shape& dy, const shape& x, const integers& multiples) {
  expect_one_each(tile_grad::name, multiples, x, "multiples");
  if (!(tiled(x, multiples) == dy))
    throw error(errc::invalid_argument,
                "a gradient of shape " + to_string(dy) + " does not fit " + to_string(x) + " tiled");
}

// A part of a tensor along an axis, and where it begins there.
struct box_part {
  any_tensor tensor;
  std::int64_t at;

  // The box of the whole that it is, as it is copied out of the whole, or back.
  box_copy out_of(const shape& whole, int axis) const {
    box_copy copy{.from = whole, .to = tensor.shape(), .box = tensor.shape()};
    copy.at_from[static_cast<std::size_t>(axis)] = at;
    return copy;
  }
  box_copy into(const shape& whole, int axis) const {
    box_copy copy{.from = tensor.shape(), .to = whole, .box = tensor.shape()};
    copy.at_to[static_cast<std::size_t>(axis)] = at;
    return copy;
  }
};

// ---- boxes that ops copy, by the functions of a device: Boxes::copy(context, x, y, box) launches one copy,
// Boxes::cut(context, whole, axis, parts) and Boxes::join(context, parts, whole, axis) those of parts along an axis,
// and Boxes::pad(context, x, y, at, around) puts x inside y, with a number around it

// Cuts a tensor along an axis into outputs of the given shapes.
template <class Boxes>
void cut_along(kernel_context& c, int axis, const std::vector<shape>& parts) {
  const any_tensor whole = c.input(0);
  std::vector<box_part> wanted;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int k = static_cast<int>(i);
    if (c.wants(k)) wanted.push_back({c.allocate(k, whole.dtype(), parts[i]), at});
    at += parts[i][axis];
  }
  Boxes::cut(c, whole, axis, wanted);
}

template <class Boxes>
void run_concat(kernel_context& c, std::int64_t attribute) {
  std::vector<shape> extents;
  for (const any_tensor& part : c.inputs) extents.push_back(part.shape());
  const shape whole = concatenated(extents, attribute);
  const int axis = checked_axis(attribute, whole.rank());
  std::vector<box_part> parts;
  std::int64_t at = 0;
  for (const any_tensor& part : c.inputs) {
    parts.push_back({part, at});
    at += part.shape()[axis];
  }
  Boxes::join(c, parts, c.allocate(0, c.input(0).dtype(), whole), axis);
}

template <class Boxes>
void run_slice(kernel_context& c, const shape& box, const integers& begin) {
  const any_tensor x = c.input(0);
  if (box == x.shape()) return void(c.outputs[0] = x);
  Boxes::copy(c, x, c.allocate(0, x.dtype(), box),
              {.from = x.shape(), .to = box, .box = box, .at_from = offsets_of(begin)});
}

// Puts x inside a tensor of a larger shape, with a number around it.
template <class Boxes>
void run_pad(kernel_context& c, const shape& whole, const integers& begin, double around) {
  const any_tensor x = c.input(0);
  if (whole == x.shape()) return void(c.outputs[0] = x);
  Boxes::pad(c, x, c.allocate(0, x.dtype(), whole), offsets_of(begin), around);
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(concat, const kernel_setup& setup) {
  return make_function_kernel(
      [axis = setup.attrs().get<std::int64_t>("axis")](kernel_context& c) { run_concat<Boxes>(c, axis); });
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(split, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const shape& x = c.input(0).shape();
    const std::vector<shape> parts(static_cast<std::size_t>(attrs.get<std::int64_t>("parts")),
                                   split::part_of(attrs, x));
    cut_along<Boxes>(c, checked_axis(attrs.get<std::int64_t>("axis"), x.rank()), parts);
  });
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(split_like, const kernel_setup& setup) {
  return make_function_kernel([attribute = setup.attrs().get<std::int64_t>("axis")](kernel_context& c) {
    std::vector<shape> parts;
    for (std::size_t i = 1; i < c.inputs.size(); ++i) parts.push_back(c.inputs[i].shape());
    const shape whole = concatenated(parts, attribute);
    if (!(whole == c.input(0).shape()))
      throw error(errc::invalid_argument, "a tensor of shape " + to_string(c.input(0).shape()) +
                                              " is not made of parts that make " + to_string(whole));
    cut_along<Boxes>(c, checked_axis(attribute, whole.rank()), parts);
  });
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(slice, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const auto& begin = attrs.get<integers>("begin");
    expect_one_each(slice::name, begin, c.input(0).shape(), "beginnings");
    run_slice<Boxes>(c, box_of(c.input(0).shape(), begin, attrs.get<integers>("size")), begin);
  });
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(slice_like, const kernel_setup& setup) {
  return make_function_kernel([begin = setup.attrs().get<integers>("begin")](kernel_context& c) {
    expect_inside(c.input(1).shape(), begin, c.input(0).shape());
    run_slice<Boxes>(c, c.input(1).shape(), begin);
  });
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(pad, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const auto& before = attrs.get<integers>("before");
    expect_one_each(pad::name, before, c.input(0).shape(), "paddings");
    const shape whole = padded(c.input(0).shape(), before, attrs.get<integers>("after"));
    run_pad<Boxes>(c, whole, before, attrs.get_or("value", 0.0));
  });
}

template <class Boxes>
std::unique_ptr<kernel> make_box_kernel(pad_like, const kernel_setup& setup) {
  return make_function_kernel([begin = setup.attrs().get<integers>("begin")](kernel_context& c) {
    expect_inside(c.input(0).shape(), begin, c.input(1).shape());
    run_pad<Boxes>(c, c.input(1).shape(), begin, 0);
  });
}

}}}}  // namespace pinion::v0::op::detail
