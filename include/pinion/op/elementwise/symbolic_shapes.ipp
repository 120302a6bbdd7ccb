// Bodies of <pinion/op/elementwise/symbolic_shapes.hpp>.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/op/elementwise/elementwise_nodes.hpp>
#include <pinion/op/elementwise/symbolic_shapes.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL symbolic_shapes::symbolic_shapes(const draft& d) {
  known_.reserve(static_cast<std::size_t>(d.size()));
  for (node_id i = 0; i < d.size(); ++i) {
    cancellable_work::check();
    const node& n = d.node_at(i);
    const bool is_open =
        std::any_of(n.outputs.begin(), n.outputs.end(), [](const auto& o) { return !o.shape.known(); });
    std::vector<shape> said;
    if (is_open && d.runs(i) && !d.is_fed(i)) said = inferred(d, n);
    said.resize(n.outputs.size(), shape::any());
    all_extents found;
    for (std::size_t k = 0; k < n.outputs.size(); ++k) found.push_back(as_declared(n.outputs[k].shape, said[k]));
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

PINION_DECL std::vector<shape> symbolic_shapes::inferred(const draft& d, const node& n) {
  const auto as_shape = [](const extents* e) { return e ? shape(std::span<const std::int64_t>(*e)) : shape::any(); };
  if (detail::is_elementwise(n)) {  // its extents may be those of several inputs, joined
    const auto space = space_of(n.inputs);
    return {as_shape(space ? &*space : nullptr)};
  }
  if (!is_library_op(n.op)) return {};  // it may take a symbol for a number
  std::vector<output_type> inputs, outputs;
  for (const output& in : n.inputs) {
    inputs.push_back(d.type_of(in));
    if (inputs.back().resource || inputs.back().reference) return {};  // what a state holds may change in a step
    inputs.back().shape = as_shape(of(in));
  }
  shape_context context(n, inputs, outputs);
  if (!outcome_of([&] { definition_of(n.op).infer(context); })) return {};
  std::vector<shape> said;
  for (const output_type& o : outputs) said.push_back(o.shape);
  return said;
}

PINION_DECL std::optional<symbolic_shapes::extents> symbolic_shapes::as_declared(const shape& s, const shape& said) {
  const bool told = said.has_rank() && (!s.has_rank() || said.rank() == s.rank());
  if (!s.has_rank() && !told) return std::nullopt;
  extents all;
  for (int axis = 0; axis < (told ? said : s).rank(); ++axis) {
    std::int64_t extent = s.has_rank() && s[axis] >= 0 ? s[axis] : unknown;
    if (extent < 0 && told) extent = said[axis];
    all.push_back(extent == unknown ? fresh_symbol() : extent);
  }
  return all;
}

PINION_DECL std::int64_t symbolic_shapes::symbol_of(std::vector<int> parts) {
  const auto next = shape::first_symbol - static_cast<std::int64_t>(parts_.size());
  const auto [at, is_new] = symbols_.try_emplace(std::move(parts), next);
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
    return parts_[static_cast<std::size_t>(shape::first_symbol - symbol)];
  };
  std::vector<int> all;
  std::set_union(parts(a).begin(), parts(a).end(), parts(b).begin(), parts(b).end(), std::back_inserter(all));
  return all.size() > most_parts ? fresh_symbol() : symbol_of(std::move(all));
}

}}}  // namespace pinion::v0::op
