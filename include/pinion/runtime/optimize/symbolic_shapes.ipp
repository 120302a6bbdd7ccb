// Bodies of <pinion/runtime/optimize/symbolic_shapes.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/layer/op.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/op/nn/op.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/runtime/optimize/symbolic_shapes.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

template <std::size_t N>
bool is_one_of(const node& n, const std::array<std::string_view, N>& ops) {
  return std::find(ops.begin(), ops.end(), n.op) != ops.end();
}

inline bool keeps_shape(const node& n) {
  return is_one_of(n, std::array{op::identity::name, op::zeros_like::name, op::ones_like::name, op::softmax::name,
                                 op::log_softmax::name, op::scale_rows::name});
}
inline bool is_reduction(const node& n) {
  return is_one_of(n,
                   std::array{op::reduce_sum::name, op::reduce_mean::name, op::reduce_max::name, op::reduce_min::name,
                              op::reduce_prod::name, op::reduce_all::name, op::reduce_any::name});
}
inline bool is_cross_entropy(const node& n) {
  return n.op == op::softmax_cross_entropy::name || n.op == op::sparse_softmax_cross_entropy::name;
}
// Tells whether output 0 is the product of the first two inputs.
inline bool is_product(const node& n) {
  return is_one_of(n, std::array{op::matmul::name, op::biased_matmul::name, op::matmul_relu_gradient::name,
                                 op::matmul_bias_gradient::name});
}
// Tells whether axis 0 of the result is that of the first input.
inline bool keeps_batch(const node& n) {
  return is_one_of(n, std::array{op::conv2d::name, op::max_pool::name, op::avg_pool::name});
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL symbolic_shapes::symbolic_shapes(const draft& d) {
  known_.reserve(static_cast<std::size_t>(d.size()));
  for (node_id i = 0; i < d.size(); ++i) {
    cancellable_work::check();
    const node& n = d.node_at(i);
    all_extents found;
    for (std::size_t k = 0; k < n.outputs.size(); ++k) {
      const shape& s = n.outputs[k].shape;
      const bool computed = d.runs(i) && !d.is_fed(i) && !s.known();
      found.push_back(as_declared(s, computed ? said_by_op(n, k) : std::nullopt));
    }
    known_.push_back(std::move(found));
  }
}

PINION_DECL const symbolic_shapes::extents* symbolic_shapes::of(output o) const {
  const auto& found = known_[static_cast<std::size_t>(o.node)][static_cast<std::size_t>(o.index)];
  return found ? &*found : nullptr;
}

PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::space_of(std::span<const output> inputs) {
  extents space;
  for (const output& in : inputs) {
    const extents* const e = of(in);
    if (!e) return std::nullopt;
    if (e->size() > space.size()) space.insert(space.begin(), e->size() - space.size(), 1);
    const std::size_t ahead = space.size() - e->size();
    for (std::size_t axis = 0; axis < e->size(); ++axis) space[ahead + axis] = joined(space[ahead + axis], (*e)[axis]);
  }
  return space;
}

PINION_DECL bool symbolic_shapes::surely_broadcast(std::span<const output> inputs) const {
  extents reversed;  // the extent of each axis, the last one first; 1 as long as every input is 1 there
  for (const output& in : inputs) {
    const extents* const e = of(in);
    if (!e) return false;
    if (e->size() > reversed.size()) reversed.resize(e->size(), 1);
    for (std::size_t axis = 0; axis < e->size(); ++axis) {
      const std::int64_t extent = (*e)[e->size() - 1 - axis];
      if (extent == 1 || extent == reversed[axis]) continue;
      if (reversed[axis] != 1) return false;
      reversed[axis] = extent;
    }
  }
  return true;
}

// The shape of an output as its op makes it from the shapes of the inputs; nothing where this class knows no rule.
PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::said_by_op(const node& n, std::size_t k) {
  const auto like = [&](const output& o) { return of(o) ? std::optional(*of(o)) : std::nullopt; };
  if (n.op == op::map_gradient::name) return like(n.inputs[k]);
  if (n.attrs.has("program") && definition_of(n.op).infer == &op::any_map::infer) return space_of(n.inputs);
  if (detail::keeps_shape(n)) return like(n.inputs[0]);
  if (n.op == op::expand_like::name) return space_of(std::span(n.inputs).subspan(1));
  if (n.op == op::reshape_like::name) return like(n.inputs[1]);
  if (detail::is_product(n)) return k == 0 ? of_product(n) : std::nullopt;
  if (n.op == op::transpose::name) return of_transposition(n);
  if (detail::is_reduction(n)) return of_reduction(n);
  if (const extents* const x = n.inputs.empty() ? nullptr : of(n.inputs[0]); x && detail::keeps_batch(n)) {
    extents y{(*x)[0]};
    while (y.size() < x->size()) y.push_back(fresh_symbol());
    return y;
  }
  if (const extents* const x = n.inputs.size() < 2 ? nullptr : of(n.inputs[1]); x && detail::is_cross_entropy(n))
    return k == 0 ? extents{(*x)[0]} : *x;
  return std::nullopt;
}

PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::of_product(const node& n) const {
  const extents *const a = of(n.inputs[0]), *const b = of(n.inputs[1]);
  if (!a || !b) return std::nullopt;
  return extents{(*a)[n.attrs.get_or("transpose_a", false) ? 1 : 0],
                 (*b)[n.attrs.get_or("transpose_b", false) ? 0 : 1]};
}

PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::of_reduction(const node& n) const {
  const extents* const x = of(n.inputs[0]);
  if (!x) return std::nullopt;
  const op::detail::axis_set axes = op::detail::reduced_axes(n.attrs, static_cast<int>(x->size()));
  const bool keep_dims = n.attrs.get_or("keep_dims", false);
  extents y;
  for (std::size_t axis = 0; axis < x->size(); ++axis)
    if (!axes.has(static_cast<int>(axis)))
      y.push_back((*x)[axis]);
    else if (keep_dims)
      y.push_back(1);
  return y;
}

PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::of_transposition(const node& n) const {
  const extents* const x = of(n.inputs[0]);
  if (!x) return std::nullopt;
  extents y;
  for (const std::int64_t axis : op::transpose::permutation(n.attrs, static_cast<int>(x->size())))
    y.push_back((*x)[static_cast<std::size_t>(axis)]);
  return y;
}

// The declared shape, with what the op said of unknown extents, or a symbol of their own for each.
PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::as_declared(const shape& s,
                                                                                 const std::optional<extents>& said) {
  if (!s.has_rank()) return said;
  extents all;
  for (int axis = 0; axis < s.rank(); ++axis) {
    const bool told = said && said->size() == static_cast<std::size_t>(s.rank());
    const std::int64_t extent = s[axis] == unknown && told ? (*said)[static_cast<std::size_t>(axis)] : s[axis];
    all.push_back(extent == unknown ? fresh_symbol() : extent);
  }
  return all;
}

// Symbols are below `unknown`.
PINION_DECL std::int64_t symbolic_shapes::symbol_of(std::vector<int> parts) {
  const auto [at, is_new] =
      symbols_.try_emplace(std::move(parts), unknown - 1 - static_cast<std::int64_t>(parts_.size()));
  if (is_new) parts_.push_back(at->first);
  return at->second;
}

// The extent that two extents broadcast to, where they do.
PINION_DECL std::int64_t symbolic_shapes::joined(std::int64_t a, std::int64_t b) {
  constexpr std::size_t most_parts = 8;
  if (a == 1 || a == b) return b;
  if (b == 1 || a >= 0) return a;
  if (b >= 0) return b;
  const auto parts = [this](std::int64_t symbol) -> const std::vector<int>& {
    return parts_[static_cast<std::size_t>(unknown - 1 - symbol)];
  };
  std::vector<int> all;
  std::set_union(parts(a).begin(), parts(a).end(), parts(b).begin(), parts(b).end(), std::back_inserter(all));
  return all.size() > most_parts ? fresh_symbol() : symbol_of(std::move(all));
}

}}}  // namespace pinion::v0::runtime
