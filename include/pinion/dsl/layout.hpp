// Other shapes of the same elements, and elements picked out, put together, added around, repeated.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/linear.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/gather/op.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/slice/op.hpp>

namespace pinion::inline v0 {

// The same elements in another shape; one extent may be -1, and is found from the rest.
template <dsl::graph_operand A>
auto reshape(A&& x, const shape& to, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::reshape, dsl::value_of<A>>(name, where, {{"shape", to}}, std::forward<A>(x));
}
// A new axis of extent 1 before an axis; -1: behind the last.
template <dsl::graph_operand A>
auto expand_dims(A&& x, std::int64_t axis, std::string_view name = {},
                 source_location where = source_location::current()) {
  return dsl::node_call<op::expand_dims, dsl::value_of<A>>(name, where, {{"axis", axis}}, std::forward<A>(x));
}
// Without some axes of extent 1, or without all of them.
template <dsl::graph_operand A>
auto squeeze(A&& x, const axis_list& axes = {}, std::string_view name = {},
             source_location where = source_location::current()) {
  attributes attrs;
  if (!axes.all) attrs.set("axes", axes.axes);
  return dsl::node_call<op::squeeze, dsl::value_of<A>>(name, where, std::move(attrs), std::forward<A>(x));
}
// Axis i of the result is axis permutation[i] of the operand.
template <dsl::graph_operand A>
auto transpose(A&& x, const integers& permutation, std::string_view name = {},
               source_location where = source_location::current()) {
  return dsl::node_call<op::transpose, dsl::value_of<A>>(name, where, {{"perm", permutation}}, std::forward<A>(x));
}
// The extents of the operand, int32 [rank].
template <dsl::graph_operand A>
auto shape_of(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::shape_of, std::int32_t>(name, where, {}, std::forward<A>(x));
}

namespace dsl {
// Both throw invalid_argument where there are no parts.
any_expr concatenated(const std::vector<any_expr>& parts, std::int64_t axis, std::string_view name,
                      source_location where);
any_expr stacked(const std::vector<any_expr>& parts, std::int64_t axis, std::string_view name, source_location where);

template <element T>
using concat_expr = expr<T, made_by<op::concat>>;
}  // namespace dsl

// Tensors one behind the other along an axis: concat({a, b}, 1). Their dtypes and their other extents agree.
template <element T>
auto concat(const std::vector<expr<T>>& parts, std::int64_t axis = 0, std::string_view name = {},
            source_location where = source_location::current()) {
  return dsl::as_typed<dsl::concat_expr<T>>(dsl::concatenated({parts.begin(), parts.end()}, axis, name, where));
}
// Tensors of one shape along a new axis: stack({a, b}) of two [3] is [2, 3].
template <element T>
auto stack(const std::vector<expr<T>>& parts, std::int64_t axis = 0, std::string_view name = {},
           source_location where = source_location::current()) {
  return dsl::as_typed<dsl::concat_expr<T>>(dsl::stacked({parts.begin(), parts.end()}, axis, name, where));
}
// A list in braces says nothing of its dtype to a template: one overload for each.
#define PINION_LIST(T)                                                                                                \
  dsl::concat_expr<T> concat(std::initializer_list<expr<T>> parts, std::int64_t axis = 0, std::string_view name = {}, \
                             source_location where = source_location::current());                                     \
  dsl::concat_expr<T> stack(std::initializer_list<expr<T>> parts, std::int64_t axis = 0, std::string_view name = {},  \
                            source_location where = source_location::current());
PINION_EACH_ELEMENT(PINION_LIST)
#undef PINION_LIST

// Cut along an axis into equal parts: auto [p, q] = split<2>(x, axis).
template <std::size_t Parts, dsl::graph_operand A>
std::array<expr<dsl::value_of<A>>, Parts> split(A&& x, std::int64_t axis = 0, std::string_view name = {},
                                                source_location where = source_location::current()) {
  static_assert(Parts > 0, "a tensor is cut into one part at least");
  using T = dsl::value_of<A>;
  const auto first = dsl::node_call<op::split, T>(name.empty() ? "split" : name, where,
                                                  {{"axis", axis}, {"parts", std::int64_t{Parts}}}, std::forward<A>(x));
  std::array<expr<T>, Parts> parts;
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = expr<T>(first.owner(), {first.id(), static_cast<int>(i)});
  return parts;
}
// The box from `begin` on of that size, one number for each axis; a size of -1 leads to the end.
template <dsl::graph_operand A>
auto slice(A&& x, const integers& begin, const integers& size, std::string_view name = {},
           source_location where = source_location::current()) {
  return dsl::node_call<op::slice, dsl::value_of<A>>(name, where, {{"begin", begin}, {"size", size}},
                                                     std::forward<A>(x));
}

struct pad_options {
  double value = 0;
  std::string_view name = {};
};
// Elements added around it, as many as stand for each axis: pad(x, {{1, 1}, {0, 0}}) adds a row above and one below.
template <dsl::graph_operand A>
auto pad(A&& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& around, const pad_options& options = {},
         source_location where = source_location::current()) {
  integers before, after;
  for (const auto& [b, a] : around) before.push_back(b), after.push_back(a);
  return dsl::node_call<op::pad, dsl::value_of<A>>(
      options.name, where, {{"before", before}, {"after", after}, {"value", options.value}}, std::forward<A>(x));
}
// Repeated along each axis: tile(x, {2, 1}) stands twice below itself.
template <dsl::graph_operand A>
auto tile(A&& x, const integers& multiples, std::string_view name = {},
          source_location where = source_location::current()) {
  return dsl::node_call<op::tile, dsl::value_of<A>>(name, where, {{"multiples", multiples}}, std::forward<A>(x));
}

struct gather_options {
  std::int64_t axis = 0;
  std::string_view name = {};
};
// The parts of params at the indices along an axis: the indices' axes stand where that axis stood. Along axis 0 its
// gradient is sparse.
template <dsl::graph_operand P, dsl::graph_operand I>
requires(!dsl::partitioned<P>)  // partitioned_variable.hpp has that
    auto gather(P&& params, I&& indices, const gather_options& options = {},
                source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::gather, dsl::value_of<P>>(options.name, where, {{"axis", options.axis}},
                                                      std::forward<P>(params), std::forward<I>(indices));
}

// 1 at the index, 0 elsewhere along a new last axis: indices [...] -> [..., depth]. An index outside gives only 0.
template <element T, dsl::graph_operand I>
auto one_hot(I&& indices, std::int64_t depth, std::string_view name = {},
             source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are integers; pn::cast<int>(x) converts");
  static_assert(!std::is_same_v<T, std::string>, "text is neither 0 nor 1");
  return dsl::node_call<op::one_hot, T>(name.empty() ? "one_hot" : name, where,
                                        {{"depth", depth}, {"dtype", dtype_of<T>}}, std::forward<I>(indices));
}
template <class T, dsl::graph_operand I>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
one_hot(I&&, std::int64_t, std::string_view = {}) PINION_REFUSAL;

}  // namespace pinion::inline v0

#if PINION_HEADER_ONLY
#include <pinion/dsl/layout.ipp>
#endif
