// Bodies of <pinion/op/layout/op.hpp>.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The product of the extents that are neither 0 nor unknown; the greatest integer where none holds it.
inline std::int64_t product_but_zeros(const shape& s) {
  std::int64_t product = 1;
  for (int i = 0; i < s.rank(); ++i)
    if (s[i] > 0 && __builtin_mul_overflow(product, s[i], &product)) return INT64_MAX;
  return product;
}

// Beside an extent of 0 that was asked for, a -1 takes what the other extents of an empty tensor leave, as in
// TensorFlow: [0, 3] to {0, -1} is [0, 3].
PINION_DECL shape reshaped(const shape& target, const shape& from) {
  if (!countable(target))
    throw error(errc::resource_exhausted, "no memory holds a tensor of shape " + to_string(target));
  int open = -1;
  bool is_empty = false;
  for (int i = 0; i < target.rank(); ++i) {
    is_empty |= target[i] == 0;
    if (target[i] >= 0) continue;
    if (open >= 0) throw error(errc::invalid_argument, "the shape " + to_string(target) + " has more than one -1");
    open = i;
  }
  const std::int64_t count = from.count();
  if (count < 0) return target;
  shape y = target;
  const std::int64_t all = is_empty ? product_but_zeros(from) : count, rest = product_but_zeros(target);
  if (open >= 0) y.set(open, all / rest);
  if (y.count() != count || (open >= 0 && all % rest != 0))
    throw error(errc::invalid_argument, "the " + std::to_string(count) + " elements of a tensor of shape " +
                                            to_string(from) + " do not fill the shape " + to_string(target));
  return y;
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void reshape::infer(shape_context& c) {
  c.output(c.dtype(0), detail::reshaped(c.attrs().get<shape>("shape"), c.shape(0)));
}

PINION_DECL void reshape::gradient(gradient_context& g) {
  g.set(0, g.make(reshape_like::name, {g.output_gradient(0), g.input(0)}));
}

PINION_DECL void reshape_like::infer(shape_context& c) {
  const std::int64_t m = c.shape(0).count(), n = c.shape(1).count();
  if (m >= 0 && n >= 0 && m != n)
    c.fail("the elements of a tensor of shape " + to_string(c.shape(0)) + " do not fill the shape " +
           to_string(c.shape(1)));
  c.output(c.dtype(0), c.shape(1));
}

PINION_DECL void reshape_like::gradient(gradient_context& g) {
  g.set(0, g.make(name, {g.output_gradient(0), g.input(0)}));
}

PINION_DECL shape merge_axes::merged(const attributes& of, const shape& x, const shape* like) {
  if (!x.has_rank() || (like && !like->has_rank())) return shape::any();
  const auto axis = of.get<std::int64_t>("axis");
  const std::int64_t at = axis >= 0 || !like ? axis : axis + x.rank() - like->rank() + 1;
  const std::int64_t end = like ? at + like->rank() : x.rank();
  if (at < 0 || at > end || end > x.rank())
    throw error(errc::invalid_argument, "a tensor of shape " + to_string(x) + " has no axes to merge at axis " +
                                            std::to_string(axis) + (like ? " like " + to_string(*like) : ""));
  shape y, together;
  for (int i = 0; i < at; ++i) y.push_back(x[i]);
  for (auto i = static_cast<int>(at); i < end; ++i) together.push_back(x[i]);
  y.push_back(together.known() ? together.count() : unknown);
  for (auto i = static_cast<int>(end); i < x.rank(); ++i) y.push_back(x[i]);
  return y;
}

PINION_DECL void merge_axes::infer(shape_context& c) {
  c.output(c.dtype(0), merged(c.attrs(), c.shape(0), c.inputs() > 1 ? &c.shape(1) : nullptr));
}

PINION_DECL void merge_axes::gradient(gradient_context& g) {
  reshape::gradient(g);
}

PINION_DECL shape expand_dims::expanded(const attributes& of, const shape& x) {
  if (!x.has_rank()) return x;
  const int at = checked_axis(of.get<std::int64_t>("axis"), x.rank() + 1);
  shape y;
  for (int i = 0; i <= x.rank(); ++i) {
    if (i == at) y.push_back(1);
    if (i < x.rank()) y.push_back(x[i]);
  }
  return y;
}

PINION_DECL void expand_dims::infer(shape_context& c) {
  c.output(c.dtype(0), expanded(c.attrs(), c.shape(0)));
}

PINION_DECL void expand_dims::gradient(gradient_context& g) {
  reshape::gradient(g);
}

PINION_DECL shape squeeze::squeezed(const attributes& of, const shape& x) {
  const bool some = of.has("axes");
  if (!x.has_rank() || (!some && !x.known())) return shape::any();
  unsigned gone = 0;
  if (some)
    for (const std::int64_t axis : of.get<integers>("axes")) gone |= 1u << checked_axis(axis, x.rank());
  shape y;
  for (int i = 0; i < x.rank(); ++i) {
    const bool goes = some ? gone >> i & 1 : x[i] == 1;
    if (!goes) y.push_back(x[i]);
    if (goes && x[i] > 1)
      throw error(errc::invalid_argument,
                  "axis " + std::to_string(i) + " of a tensor of shape " + to_string(x) + " is not of extent 1");
  }
  return y;
}

PINION_DECL void squeeze::infer(shape_context& c) {
  c.output(c.dtype(0), squeezed(c.attrs(), c.shape(0)));
}

PINION_DECL void squeeze::gradient(gradient_context& g) {
  reshape::gradient(g);
}

PINION_DECL void transpose::infer(shape_context& c) {
  const shape& x = c.shape(0);
  const int rank = x.has_rank() ? x.rank() : attrs_rank(c.attrs());
  if (rank < 0) return c.output(c.dtype(0), shape::any());
  shape y;
  for (const std::int64_t axis : permutation(c.attrs(), rank))
    y.push_back(x.has_rank() ? x[static_cast<int>(axis)] : unknown);
  c.output(c.dtype(0), y);
}

PINION_DECL void transpose::gradient(gradient_context& g) {
  attributes back;
  if (g.attrs().has("perm")) {
    const integers& perm = g.attrs().get<integers>("perm");
    integers inverse(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i)
      inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    back.set("perm", inverse);
  }
  g.set(0, g.make(name, {g.output_gradient(0)}, back));
}

PINION_DECL int transpose::attrs_rank(const attributes& of) {
  return of.has("perm") ? static_cast<int>(of.get<integers>("perm").size()) : -1;
}

// The permutation for a tensor of that rank. Fails unless every axis occurs in it once.
PINION_DECL integers transpose::permutation(const attributes& of, int rank) {
  integers perm(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) perm[static_cast<std::size_t>(i)] = rank - 1 - i;
  if (of.has("perm")) perm = of.get<integers>("perm");
  unsigned seen = 0;
  for (const std::int64_t axis : perm)
    if (axis >= 0 && axis < rank) seen |= 1u << axis;
  if (static_cast<int>(perm.size()) == rank && seen == (1u << rank) - 1) return perm;
  std::string text;
  for (const std::int64_t axis : perm) text += (text.empty() ? "" : ", ") + std::to_string(axis);
  throw error(errc::invalid_argument, "[" + text + "] is not an order of the " + std::to_string(rank) +
                                          " axes of a tensor: each stands in it once");
}

}}}  // namespace pinion::v0::op
