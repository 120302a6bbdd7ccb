// Bodies of <pinion/op/slice/op.hpp>.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <pinion/base/number_text.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_one_each(std::string_view op, const integers& numbers, const shape& x, std::string_view what) {
  if (x.has_rank() && static_cast<int>(numbers.size()) != x.rank())
    throw error(errc::invalid_argument, std::string(op) + " has " + std::to_string(numbers.size()) + " " +
                                            std::string(what) + " for a tensor of shape " + to_string(x) +
                                            ": one for each axis");
}

// Does a dtype hold a number, rounded toward zero? Those that are not integers hold any.
inline bool holds(dtype type, double number) {
  return visit_plain<dtypes::moved>(type, [&]<class T>() {
    if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
      return true;
    } else {
      constexpr double end =
          2 * static_cast<double>(T(1) << (std::numeric_limits<T>::digits - 1));  // behind the greatest
      return std::trunc(number) >= static_cast<double>(std::numeric_limits<T>::min()) && number < end;
    }
  });
}

PINION_DECL shape concatenated(const std::vector<shape>& parts, std::int64_t axis) {
  shape whole = shape::any();
  std::int64_t along = 0;
  for (const shape& part : parts) {
    if (!part.has_rank()) {
      along = unknown;
      continue;
    }
    const int a = checked_axis(axis, part.rank());
    along = along < 0 || part[a] < 0 ? unknown : along + part[a];
    if (!countable({std::max<std::int64_t>(0, along)}))
      throw error(errc::resource_exhausted, "no memory holds all of " + std::to_string(parts.size()) +
                                                " tensors, one of them of shape " + to_string(part));
    if (!whole.has_rank()) whole = shape::unknown_of_rank(part.rank());
    shape others = part;
    others.set(a, unknown);
    if (!fits(others, whole))
      throw error(errc::invalid_argument, "tensors of shapes " + to_string(parts[0]) + " and " + to_string(part) +
                                              " differ in more than axis " + std::to_string(a));
    for (int i = 0; i < part.rank(); ++i)
      if (i != a && (part[i] >= 0 || whole[i] == unknown)) whole.set(i, part[i]);
  }
  if (whole.has_rank()) whole.set(checked_axis(axis, whole.rank()), along);
  return whole;
}

PINION_DECL shape box_of(const shape& x, const integers& begin, const integers& size) {
  shape y;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::int64_t extent = x.has_rank() ? x[static_cast<int>(i)] : unknown;
    const bool is_known = extent >= 0 && begin[i] >= 0;
    const std::int64_t n = size[i] >= 0 ? size[i] : begin[i] == 0 ? extent : is_known ? extent - begin[i] : unknown;
    if (begin[i] < 0 || (extent >= 0 && (begin[i] > extent || n > extent - begin[i])))
      throw error(errc::invalid_argument, "a slice of " + std::to_string(n) + " from " + std::to_string(begin[i]) +
                                              " on along axis " + std::to_string(i) + " of a tensor of shape " +
                                              to_string(x));
    y.push_back(n);
  }
  return y;
}

PINION_DECL void expect_inside(const shape& box, const integers& begin, const shape& x) {
  if (!box.has_rank() || !x.has_rank()) return;
  integers size(box.dims().begin(), box.dims().end());
  if (box.rank() == x.rank() && box.rank() == static_cast<int>(begin.size())) return void(box_of(x, begin, size));
  throw error(errc::invalid_argument, "a box of shape " + to_string(box) + " in a tensor of shape " + to_string(x) +
                                          ": they need the same rank");
}

PINION_DECL shape padded(const shape& x, const integers& before, const integers& after) {
  if (!x.has_rank()) return shape::unknown_of_rank(static_cast<int>(before.size()));
  shape y;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t around = before[k] + after[k];
    y.push_back(around == 0 ? x[i] : x[i] < 0 ? unknown : x[i] + around);
  }
  return y;
}

PINION_DECL void expect_paddings(std::string_view op, const attributes& attrs, const shape& x) {
  const auto &before = attrs.get<integers>("before"), &after = attrs.get<integers>("after");
  expect_one_each(op, before, x, "paddings");
  const auto refuse = [](const std::string& sentence) { throw error(errc::invalid_argument, sentence); };
  if (before.size() != after.size()) refuse(std::string(op) + " has other numbers of paddings before and after");
  for (const integers* side : {&before, &after})
    for (const std::int64_t n : *side)
      if (n < 0 || !countable({n})) refuse("a padding of " + std::to_string(n) + " elements; pn::slice cuts off");
}

PINION_DECL shape mirrored(std::string_view op, const attributes& attrs, const shape& x) {
  expect_paddings(op, attrs, x);
  const std::string& mode = attrs.get<std::string>("mode");
  if (mode != "REFLECT" && mode != "SYMMETRIC" && mode != "EDGE")
    throw error(errc::invalid_argument,
                std::string(op) + " by mode '" + mode + "'; modes are REFLECT, SYMMETRIC and EDGE");
  const auto &before = attrs.get<integers>("before"), &after = attrs.get<integers>("after");
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    const std::int64_t most = std::max(before[k], after[k]), n = x[axis];
    if (n < 0 || most == 0 || (mode == "EDGE" ? n > 0 : most <= n - (mode == "REFLECT"))) continue;
    throw error(errc::invalid_argument, "a padding of " + std::to_string(most) + " elements by mode " + mode +
                                            " along axis " + std::to_string(axis) + " of a tensor of shape " +
                                            to_string(x) + ", which has too few to repeat");
  }
  return padded(x, before, after);
}

PINION_DECL shape tiled(const shape& x, const integers& multiples) {
  if (!x.has_rank()) return shape::unknown_of_rank(static_cast<int>(multiples.size()));
  shape y;
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t times = multiples[static_cast<std::size_t>(i)];
    if (!countable({std::max<std::int64_t>(0, x[i]), times}))
      throw error(errc::resource_exhausted, "axis " + std::to_string(i) + " of a tensor of shape " + to_string(x) +
                                                " cannot be repeated " + std::to_string(times) + " times");
    y.push_back(times == 1 ? x[i] : x[i] < 0 ? unknown : x[i] * times);
  }
  return y;
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void concat::infer(shape_context& c) {
  c.expect_one_dtype();
  std::vector<shape> parts;
  for (int i = 0; i < c.inputs(); ++i) parts.push_back(c.shape(i));
  c.output(c.dtype(0), detail::concatenated(parts, c.attrs().get<std::int64_t>("axis")));
}

PINION_DECL void split_like::infer(shape_context& c) {
  c.expect_one_dtype();
  std::vector<shape> parts;
  for (int i = 1; i < c.inputs(); ++i) parts.push_back(c.shape(i));
  const shape whole = detail::concatenated(parts, c.attrs().get<std::int64_t>("axis"));
  if (!fits(c.shape(0), whole))
    c.fail("a tensor of shape " + to_string(c.shape(0)) + " is not made of parts that make " + to_string(whole));
  for (const shape& part : parts) c.output(c.dtype(0), part);
}

PINION_DECL void split_like::gradient(gradient_context& g) {
  std::vector<output> parts;
  for (int i = 0; i < static_cast<int>(g.node().outputs.size()); ++i) parts.push_back(g.output_gradient(i));
  g.set(0, g.make(concat::name, std::move(parts), {{"axis", g.attrs().get<std::int64_t>("axis")}}));
}

PINION_DECL void concat::gradient(gradient_context& g) {
  std::vector<output> from{g.output_gradient(0)};
  for (const output& part : g.node().inputs) from.push_back(part);
  const output parts = g.make(split_like::name, std::move(from), {{"axis", g.attrs().get<std::int64_t>("axis")}});
  for (int i = 0; i < static_cast<int>(g.node().inputs.size()); ++i) g.set(i, {parts.node, i});
}

PINION_DECL shape split::part_of(const attributes& of, const shape& x) {
  const auto parts = of.get<std::int64_t>("parts");
  if (parts < 1 || parts > 1 << 16)
    throw error(errc::invalid_argument, "a tensor is not cut into " + std::to_string(parts) + " parts");
  if (!x.has_rank()) return x;
  const int axis = checked_axis(of.get<std::int64_t>("axis"), x.rank());
  shape part = x;
  if (x[axis] >= 0 && x[axis] % parts != 0)
    throw error(errc::invalid_argument, "axis " + std::to_string(axis) + " of a tensor of shape " + to_string(x) +
                                            " is not cut into " + std::to_string(parts) + " equal parts");
  part.set(axis, x[axis] < 0 ? unknown : x[axis] / parts);
  return part;
}

PINION_DECL void split::infer(shape_context& c) {
  const shape part = part_of(c.attrs(), c.shape(0));
  for (std::int64_t i = 0; i < c.attrs().get<std::int64_t>("parts"); ++i) c.output(c.dtype(0), part);
}

PINION_DECL void split::gradient(gradient_context& g) {
  split_like::gradient(g);
}

PINION_DECL void slice::infer(shape_context& c) {
  const auto &begin = c.attrs().get<integers>("begin"), &size = c.attrs().get<integers>("size");
  detail::expect_one_each(name, begin, c.shape(0), "beginnings");
  detail::expect_one_each(name, size, c.shape(0), "sizes");
  if (begin.size() != size.size()) c.fail("Slice has other numbers of beginnings and sizes");
  c.output(c.dtype(0), detail::box_of(c.shape(0), begin, size));
}

PINION_DECL void slice_like::infer(shape_context& c) {
  detail::expect_inside(c.shape(1), c.attrs().get<integers>("begin"), c.shape(0));
  c.output(c.dtype(0), c.shape(1));
}

PINION_DECL void pad_like::infer(shape_context& c) {
  detail::expect_inside(c.shape(0), c.attrs().get<integers>("begin"), c.shape(1));
  c.output(c.dtype(0), c.shape(1));
}

PINION_DECL void pad_like::gradient(gradient_context& g) {
  g.set(0, g.make(slice_like::name, {g.output_gradient(0), g.input(0)}, {{"begin", g.attrs().get<integers>("begin")}}));
}

PINION_DECL void slice::gradient(gradient_context& g) {
  g.set(0, g.make(pad_like::name, {g.output_gradient(0), g.input(0)}, {{"begin", g.attrs().get<integers>("begin")}}));
}

PINION_DECL void slice_like::gradient(gradient_context& g) {
  slice::gradient(g);
}

PINION_DECL void pad::infer(shape_context& c) {
  detail::expect_paddings(name, c.attrs(), c.shape(0));
  const std::string type(to_string(c.dtype(0)));
  c.expect_dtype(c.dtype(0), dtypes::moved);
  if (const double value = c.attrs().get_or("value", 0.0); !detail::holds(c.dtype(0), value))
    c.fail("a padding with " + number_text(value) + ", which no " + type + " holds");
  c.output(c.dtype(0), detail::padded(c.shape(0), c.attrs().get<integers>("before"), c.attrs().get<integers>("after")));
}

PINION_DECL void pad::gradient(gradient_context& g) {
  g.set(0,
        g.make(slice_like::name, {g.output_gradient(0), g.input(0)}, {{"begin", g.attrs().get<integers>("before")}}));
}

PINION_DECL void mirror_pad::infer(shape_context& c) {
  c.output(c.dtype(0), detail::mirrored(name, c.attrs(), c.shape(0)));
}

PINION_DECL void mirror_pad::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(mirror_pad_grad::name, {g.output_gradient(0), g.input(0)}, g.attrs()));
}

PINION_DECL void mirror_pad_grad::infer(shape_context& c) {
  c.expect_one_dtype();
  c.expect_dtype(c.dtype(0), dtypes::floating);
  if (!fits(c.shape(0), detail::mirrored(name, c.attrs(), c.shape(1))))
    c.fail("a gradient of shape " + to_string(c.shape(0)) + " does not fit " + to_string(c.shape(1)) + " padded");
  c.output(c.dtype(0), c.shape(1));
}

PINION_DECL void mirror_pad_grad::gradient(gradient_context& g) {
  g.set(0, g.make(mirror_pad::name, {g.output_gradient(0)}, g.attrs()));
}

PINION_DECL void tile::infer(shape_context& c) {
  const auto& multiples = c.attrs().get<integers>("multiples");
  detail::expect_one_each(name, multiples, c.shape(0), "multiples");
  for (const std::int64_t n : multiples)
    if (n < 0) c.fail("a tensor is not repeated " + std::to_string(n) + " times");
  c.output(c.dtype(0), detail::tiled(c.shape(0), multiples));
}

PINION_DECL void tile::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(tile_grad::name, {g.output_gradient(0), g.input(0)},
                  {{"multiples", g.attrs().get<integers>("multiples")}}));
}

PINION_DECL void tile_grad::infer(shape_context& c) {
  c.expect_one_dtype();
  const auto& multiples = c.attrs().get<integers>("multiples");
  detail::expect_one_each(name, multiples, c.shape(1), "multiples");
  c.expect_dtype(c.dtype(0), dtypes::floating);
  if (!fits(c.shape(0), detail::tiled(c.shape(1), multiples)))
    c.fail("a gradient of shape " + to_string(c.shape(0)) + " does not fit " + to_string(c.shape(1)) + " tiled");
  c.output(c.dtype(0), c.shape(1));
}

PINION_DECL void tile_grad::gradient(gradient_context& g) {
  g.set(0, g.make(tile::name, {g.output_gradient(0)}, {{"multiples", g.attrs().get<integers>("multiples")}}));
}

}}}  // namespace pinion::v0::op
