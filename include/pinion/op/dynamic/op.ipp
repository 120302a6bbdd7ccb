// Bodies of <pinion/op/dynamic/op.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include <pinion/op/dynamic/numbers.hpp>
#include <pinion/op/dynamic/op.hpp>
#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/op/strided/spec.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

namespace dynamic {

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw error(errc::invalid_argument, sentence);
}

inline void expect_countable(const shape& y) {
  if (!countable(y)) throw error(errc::resource_exhausted, "no memory holds a tensor of shape " + to_string(y));
}

// The rank that one number for each axis tells, where that of x is not known.
inline int rank_by(const shape& x, const std::optional<integers>& numbers) {
  return x.has_rank() ? x.rank() : numbers ? static_cast<int>(std::min<std::size_t>(numbers->size(), 64)) : -1;
}

// The extent of a box along an axis, where begin and size may be untold.
inline std::int64_t box_extent(std::int64_t extent, std::int64_t begin, std::int64_t size) {
  if (begin < 0 && begin != untold) refuse("a slice begins at " + std::to_string(begin) + ", which is below 0");
  if (size < -1 && size != untold)
    refuse("a slice of " + std::to_string(size) + " elements; sizes are 0 or more, or -1 for all up to the end");
  if (size != -1) return size == untold ? unknown : size;
  return begin == 0 ? extent : begin == untold || begin > extent ? unknown : extent - begin;
}

// The bits of a mask, of which the others are 0.
inline std::uint64_t bits(const attributes& attrs, const char* mask) {
  return static_cast<std::uint64_t>(attrs.get_or(mask, std::int64_t{0}));
}

// The rank of a strided slice of a tensor of that rank: axes that it adds, and those of which it takes one index.
inline int sliced_rank(const attributes& masks, int rank) {
  const std::uint64_t all = bits(masks, "ellipsis_mask"), added = bits(masks, "new_axis_mask") & ~all,
                      taken = bits(masks, "shrink_axis_mask") & ~all & ~added;
  return rank + std::popcount(added) - std::popcount(taken);
}

// The numbers of the entries of a strided slice, at inputs 1 to 3.
struct told_entries {
  std::optional<integers> begin, end, strides;

  explicit told_entries(const shape_context& c) {
    for (int i = 1; i < 4; ++i) expect_numbers(c, i, i == 1 ? "begin" : i == 2 ? "end" : "strides");
    begin = told_numbers(c, 1), end = told_numbers(c, 2), strides = told_numbers(c, 3);
  }
  bool all() const { return begin && end && strides && are_told(*begin) && are_told(*end) && are_told(*strides); }
};

// The shape of a strided slice of x, as far as it is told.
inline shape told_slice(const shape_context& c, const shape& x) {
  const told_entries entries(c);
  if (entries.all()) {
    const strided_spec spec(strided_attributes(c.attrs(), *entries.begin, *entries.end, *entries.strides));
    return x.has_rank() ? sliced_shape(spec.ranges(x)) : shape::any();
  }
  const int rank = x.has_rank() ? sliced_rank(c.attrs(), x.rank()) : -1;
  return rank < 0 || rank > shape::max_rank ? shape::any() : shape::unknown_of_rank(rank);
}

// The shape of x repeated so many times, as far as they are told.
inline shape told_tile(const shape& x, const std::optional<integers>& multiples) {
  if (multiples) expect_multiples(x, *multiples);
  if (multiples && are_told(*multiples)) return tiled(x, *multiples);
  const int rank = rank_by(x, multiples);
  return rank < 0 ? shape::any() : shape::unknown_of_rank(rank);
}

}  // namespace dynamic

PINION_DECL shape told_box(const shape& x, const integers& begin, const integers& size) {
  shape y;
  for (std::size_t i = 0; i < begin.size(); ++i)
    y.push_back(dynamic::box_extent(x.has_rank() ? x[static_cast<int>(i)] : unknown, begin[i], size[i]));
  return are_told(begin) && are_told(size) ? box_of(x, begin, size) : y;
}

PINION_DECL void expect_multiples(const shape& x, const integers& multiples) {
  expect_one_each(dynamic_tile::name, multiples, x, "multiples");
  for (const std::int64_t n : multiples)
    if (n < 0 && n != untold) dynamic::refuse("a tensor is not repeated " + std::to_string(n) + " times");
}

PINION_DECL shape broadcast_shape(const shape& x, const integers& numbers) {
  for (const std::int64_t n : numbers)
    if (n < 0 && n != untold) dynamic::refuse("a tensor is not repeated to an extent of " + std::to_string(n));
  shape y = shape_of_numbers(numbers);
  dynamic::expect_countable(y);
  const int added = y.rank() - x.rank();
  for (int i = 0; added >= 0 && i < x.rank(); ++i)
    if (y[added + i] < 0 && x[i] >= 0 && x[i] != 1) y.set(added + i, x[i]);
  expect_broadcast(x, y);
  return y;
}

PINION_DECL integers part_sizes(integers sizes, std::int64_t extent) {
  std::int64_t sum = 0, *rest = nullptr;
  bool is_told = true;
  for (std::int64_t& n : sizes) {
    if (n == untold) {
      is_told = false;
    } else if (n == -1 && !rest) {
      rest = &n;
    } else if (n < 0 || __builtin_add_overflow(sum, n, &sum)) {
      dynamic::refuse("a part of " + std::to_string(n) + " elements; sizes are 0 or more, and one may be -1: the rest");
    }
  }
  if (extent < 0) return sizes;
  if (sum > extent || (is_told && !rest && sum != extent))
    dynamic::refuse("parts of " + std::to_string(sum) + " elements in all of an axis of " + std::to_string(extent));
  if (rest && is_told) *rest = extent - sum;
  return sizes;
}

PINION_DECL attributes strided_attributes(const attributes& masks, integers begin, integers end, integers strides) {
  for (const integers* list : {&begin, &end, &strides})
    if (list->size() > static_cast<std::size_t>(most_entries))
      dynamic::refuse("a slice of " + std::to_string(list->size()) + " entries; it has at most " +
                      std::to_string(most_entries));
  attributes all = masks;
  all.set("begin", std::move(begin));
  all.set("end", std::move(end));
  all.set("strides", std::move(strides));
  return all;
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void dynamic_reshape::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "shape");
  const auto numbers = detail::told_numbers(c, 1);
  if (!numbers) return c.output(c.dtype(0), shape::any());
  const shape target = detail::shape_of_numbers(*numbers);
  c.output(c.dtype(0), detail::are_told(*numbers) ? detail::reshaped(target, c.shape(0)) : target);
}

PINION_DECL void dynamic_reshape::gradient(gradient_context& g) {
  reshape::gradient(g);
}

PINION_DECL void dynamic_broadcast_to::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "shape");
  const auto numbers = detail::told_numbers(c, 1);
  c.output(c.dtype(0), numbers ? detail::broadcast_shape(c.shape(0), *numbers) : shape::any());
}

PINION_DECL void dynamic_broadcast_to::gradient(gradient_context& g) {
  broadcast_to::gradient(g);
}

PINION_DECL void dynamic_slice::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "begin");
  detail::expect_numbers(c, 2, "size");
  const shape& x = c.shape(0);
  auto begin = detail::told_numbers(c, 1), size = detail::told_numbers(c, 2);
  for (const auto* numbers : {&begin, &size})
    if (*numbers) detail::expect_one_each(name, **numbers, x, numbers == &begin ? "beginnings" : "sizes");
  const int rank = detail::dynamic::rank_by(x, begin ? begin : size);
  if (rank < 0) return c.output(c.dtype(0), shape::any());
  const integers none(static_cast<std::size_t>(rank), detail::untold);
  if (!begin) begin = none;
  if (!size) size = none;
  if (begin->size() != size->size()) c.fail("a slice has other numbers of beginnings and sizes");
  c.output(c.dtype(0), detail::told_box(x, *begin, *size));
}

PINION_DECL void dynamic_slice::gradient(gradient_context& g) {
  g.set(0, g.make(dynamic_slice_grad::name, {g.output_gradient(0), g.input(1), g.input(0)}));
}

PINION_DECL void dynamic_slice_grad::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "begin");
  c.expect_same_dtype(2);
  const auto begin = detail::told_numbers(c, 1);
  if (begin && detail::are_told(*begin)) detail::expect_inside(c.shape(0), *begin, c.shape(2));
  c.output(c.dtype(0), c.shape(2));
}

PINION_DECL void dynamic_slice_grad::gradient(gradient_context& g) {
  const output size = g.make(shape_of::name, {g.input(0)});
  g.set(0, g.make(dynamic_slice::name, {g.output_gradient(0), g.input(1), size}));
}

PINION_DECL void dynamic_strided_slice::infer(shape_context& c) {
  c.output(c.dtype(0), detail::dynamic::told_slice(c, c.shape(0)));
}

PINION_DECL void dynamic_strided_slice::gradient(gradient_context& g) {
  g.set(0, g.make(dynamic_strided_slice_grad::name,
                  {g.output_gradient(0), g.input(1), g.input(2), g.input(3), g.input(0)}, g.attrs()));
}

PINION_DECL void dynamic_strided_slice_grad::infer(shape_context& c) {
  c.expect_same_dtype(4);
  detail::expect_sliced(c.shape(0), detail::dynamic::told_slice(c, c.shape(4)), c.shape(4));
  c.output(c.dtype(0), c.shape(4));
}

PINION_DECL void dynamic_strided_slice_grad::gradient(gradient_context& g) {
  g.set(0, g.make(dynamic_strided_slice::name, {g.output_gradient(0), g.input(1), g.input(2), g.input(3)}, g.attrs()));
}

PINION_DECL void dynamic_tile::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "multiples");
  c.output(c.dtype(0), detail::dynamic::told_tile(c.shape(0), detail::told_numbers(c, 1)));
}

PINION_DECL void dynamic_tile::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(dynamic_tile_grad::name, {g.output_gradient(0), g.input(1), g.input(0)}));
}

PINION_DECL void dynamic_tile_grad::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "multiples");
  c.expect_same_dtype(2);
  c.expect_dtype(c.dtype(0), dtypes::floating);
  if (!fits(c.shape(0), detail::dynamic::told_tile(c.shape(2), detail::told_numbers(c, 1))))
    c.fail("a gradient of shape " + to_string(c.shape(0)) + " does not fit " + to_string(c.shape(2)) + " tiled");
  c.output(c.dtype(0), c.shape(2));
}

PINION_DECL void dynamic_tile_grad::gradient(gradient_context& g) {
  g.set(0, g.make(dynamic_tile::name, {g.output_gradient(0), g.input(1)}));
}

PINION_DECL void split_v::infer(shape_context& c) {
  detail::expect_numbers(c, 1, "sizes");
  const shape& x = c.shape(0);
  const auto parts = c.attrs().get<std::int64_t>("num_split");
  const int axis = x.has_rank() ? checked_axis(c.attrs().get<std::int64_t>("axis"), x.rank()) : -1;
  if (c.shape(1).has_rank() && c.shape(1)[0] >= 0 && c.shape(1)[0] != parts)
    c.fail("SplitV into " + std::to_string(parts) + " parts has " + std::to_string(c.shape(1)[0]) +
           " sizes: one for each part");
  integers sizes = detail::told_numbers(c, 1).value_or(integers(static_cast<std::size_t>(parts), detail::untold));
  sizes = detail::part_sizes(std::move(sizes), axis < 0 ? unknown : x[axis]);
  for (const std::int64_t size : sizes) {
    shape part = x;
    if (axis >= 0) part.set(axis, size < 0 ? unknown : size);
    c.output(c.dtype(0), part);
  }
}

PINION_DECL void split_v::gradient(gradient_context& g) {
  split_like::gradient(g);
}

PINION_DECL void dynamic_range::infer(shape_context& c) {
  for (int i = 0; i < 3; ++i) c.expect_rank(i, 0, "an end or a step of a range");
  for (int i = 1; i < 3; ++i) c.expect_same_dtype(i);
  const dtype type = c.dtype(0);
  if (!types.has(type)) c.fail("a range of " + std::string(to_string(type)) + " is not defined; pn::cast converts");
  integers ends;
  for (int i = 0; i < 3 && is_integer(type); ++i)
    if (const auto told = detail::told_numbers(c, i); told && detail::are_told(*told)) ends.push_back(told->at(0));
  if (ends.size() < 3) return c.output(type, {unknown});
  const attributes range_of{{"dtype", type}, {"start", ends[0]}, {"limit", ends[1]}, {"delta", ends[2]}};
  c.output(type, {range::checked_count(range_of)});
}

}}}  // namespace pinion::v0::op
