// Bodies of <pinion/op/variable/fold_gradients.hpp>.
#pragma once

#include <algorithm>
#include <array>

#include <pinion/op/matmul/op.hpp>
#include <pinion/op/variable/fold_gradients.hpp>
#include <pinion/op/variable/op.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

inline bool is_dense_update(const node& n) {
#define PINION_UPDATE_NAME(tag, op_name) op::tag::name,
  static constexpr std::array names{PINION_UPDATE_OPS(PINION_UPDATE_NAME)};
#undef PINION_UPDATE_NAME
  return std::find(names.begin(), names.end(), n.op) != names.end();
}

// True for a matrix that is worth cutting into blocks of rows, of a type that products of blocks have.
inline bool has_blocks(const output_type& t) {
  const shape& s = t.shape;
  return (t.dtype == dtype::float32 || t.dtype == dtype::float64) && s.known() && s.rank() == 2 && 4 * s[0] >= s[1];
}

// True if an update on a CPU is all that reads the product.
inline bool folds(const draft& d, node_id product, node_id update) {
  const node& n = d.node_at(product);
  return d.runs(product) && n.op == op::matmul::name && n.control_inputs.empty() && d.uses(product) == 1 &&
         !d.is_fed(product) && d[product].device == d[update].device && d.is_on_cpu(update) && has_blocks(n.outputs[0]);
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL int fold_gradients(draft& d) {
  int folded = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    if (!d.runs(i) || !detail::is_dense_update(d.node_at(i))) continue;
    const auto gradient = static_cast<std::ptrdiff_t>(d.node_at(i).attrs.get<std::int64_t>("states"));
    const node_id from = d.node_at(i).inputs[static_cast<std::size_t>(gradient)].node;
    if (!detail::folds(d, from, i)) continue;
    d.fold(from, i);
    const node& product = d.node_at(from);
    node& update = d.change(i);
    update.op = op::apply_product::name;
    update.inputs[static_cast<std::size_t>(gradient)] = product.inputs[0];
    update.inputs.insert(update.inputs.begin() + gradient + 1, product.inputs[1]);
    for (const auto& [name, value] : op::matmul::attributes_of_product(product.attrs)) update.attrs.set(name, value);
    ++folded;
  }
  return folded;
}

}}}  // namespace pinion::v0::op
