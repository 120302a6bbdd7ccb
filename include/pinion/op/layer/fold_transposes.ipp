// Bodies of <pinion/op/layer/fold_transposes.hpp>.
#pragma once

#include <pinion/op/layer/fold_transposes.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/matmul/op.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL int fold_transposes(draft& d) {
  const auto transposes_a_matrix = [&](const node& n) {
    if (n.op != op::transpose::name || !n.control_inputs.empty() || d.type_of(n.inputs[0]).shape.rank() != 2)
      return false;
    return n.attrs.get_or("perm", integers{1, 0}) == integers{1, 0};
  };
  int folded = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    if (!d.runs(i) || d.node_at(i).op != op::matmul::name) continue;
    for (const auto& [side, flag] : {std::pair<std::size_t, const char*>{0, "transpose_a"}, {1, "transpose_b"}}) {
      const node_id from = d.node_at(i).inputs[side].node;
      if (!d.runs(from) || d.is_fed(from) || d[from].device != d[i].device || !transposes_a_matrix(d.node_at(from)))
        continue;
      d.fold(from, i);
      node& product = d.change(i);
      product.inputs[side] = d.node_at(from).inputs[0];
      product.attrs.set(flag, !product.attrs.get_or(flag, false));
      ++folded;
    }
  }
  return folded;
}

}}}  // namespace pinion::v0::op
