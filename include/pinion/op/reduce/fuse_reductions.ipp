// Bodies of <pinion/op/reduce/fuse_reductions.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/elementwise_nodes.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/elementwise/symbolic_shapes.hpp>
#include <pinion/op/reduce/fuse_reductions.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/opkit/readers.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

inline bool is_number_reduction(const node& n) {
  static constexpr std::array ops{op::reduce_sum::name, op::reduce_mean::name, op::reduce_max::name,
                                  op::reduce_min::name, op::reduce_prod::name};
  return std::find(ops.begin(), ops.end(), n.op) != ops.end();
}

// The reductions of a draft, and who reads what they fold.
class reduction_fusion {
 public:
  explicit reduction_fusion(draft& d)
      : d_(d), shapes_(d), readers_(d), sole_(static_cast<std::size_t>(d.size()), not_looked_for) {}

  int run() {
    int fused = 0;
    for (node_id i = 0; i < d_.size(); ++i) {
      if (!d_.runs(i) || !is_number_reduction(d_.node_at(i))) continue;
      const node_id from = d_.node_at(i).inputs[0].node;
      if (!d_.runs(from) || d_.is_fed(from) || !is_elementwise(d_.node_at(from))) continue;
      if (const auto why = obstacle(i, from); why != node_fate::none) {
        d_.keep_apart(from, i, why);
      } else {
        fuse(i, from);
        ++fused;
      }
    }
    for (node_id i = 0; i < d_.size(); ++i)
      if (d_.runs(i) && d_.node_at(i).op == op::expand_like::name) narrow(i);
    return fused;
  }

 private:
  node_fate::obstacle obstacle(node_id i, node_id from) {
    const node &reduction = d_.node_at(i), &map = d_.node_at(from);
    const scalar::program& p = op::program_of(map.attrs);
    if (d_.is_end(from)) return node_fate::fetched;
    if (d_.uses(from) != static_cast<int>(readers_.of(from).size()) || !only_reduced(from, i))
      return node_fate::several_readers;
    if (!map.control_inputs.empty() || !reduction.control_inputs.empty()) return node_fate::ordered;
    if (d_[i].device != d_[from].device) return node_fate::other_device;
    if (p.results[0].type != p.arithmetic || !is_floating(p.arithmetic)) return node_fate::cast;
    return d_.is_on_cpu(i) ? node_fate::none : node_fate::other_device;
  }
  // Tells whether one reduction reads the elements of a map, and all other readers no more than their shape.
  bool only_reduced(node_id map, node_id reduction) {
    node_id& sole = sole_[static_cast<std::size_t>(map)];
    if (sole == not_looked_for) sole = sole_reader(map);
    return sole == reduction;
  }
  // The node that reads the elements of a map; no_node if several do, or none.
  node_id sole_reader(node_id map) const {
    node_id sole = no_node;
    for (const reading& r : readers_.of(map)) {
      if (r.reader == sole ||
          (d_.node_at(r.reader).op == op::expand_like::name && r.input == 1 && d_[r.reader].device == d_[map].device))
        continue;
      if (sole != no_node) return no_node;
      sole = r.reader;
    }
    return sole;
  }

  void fuse(node_id i, node_id from) {
    const node& map = d_.node_at(from);
    op::map_parts parts;
    parts.insert(map, 0, !shapes_.surely_broadcast(map.inputs));
    d_.fold(from, i);
    node& whole = d_.change(i);
    whole.attrs.set("fold", std::string(whole.op));
    whole.attrs.set("program", op::shared_program(map.attrs.get<op::shared_program>("program")));
    parts.write(whole.attrs);
    whole.op = op::map_reduction::name;
    whole.inputs = map.inputs;
    for (const reading& r : readers_.of(from)) {
      if (r.reader == i) continue;
      auto& inputs = d_.change(r.reader).inputs;
      inputs.pop_back();
      inputs.insert(inputs.end(), map.inputs.begin(), map.inputs.end());
    }
  }

  // Lets the reader of an expanded number repeat it, where that reader is elementwise and has all axes without it.
  void narrow(node_id i) {
    const node& n = d_.node_at(i);
    if (d_.uses(i) != 1 || readers_.of(i).size() != 1 || !reduces_all(n)) return;
    const auto [reader, input] = readers_.of(i)[0];
    const node& r = d_.node_at(reader);
    const bool is_gradient = r.op == op::map_gradient::name;
    if (!d_.runs(reader) || d_[reader].device != d_[i].device || !(is_gradient || is_elementwise(r))) return;
    if (is_gradient && input < op::program_of(r.attrs).results.size()) return;
    std::vector<output> others = r.inputs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(input));
    const auto* const space = shapes_.of({i, 0});
    if (!space || shapes_.space_of(others) != *space) return;
    node& changed = d_.change(i);
    changed.attrs.set("narrow", true);
    for (int axis = 0; axis < changed.outputs[0].shape.rank(); ++axis) changed.outputs[0].shape.set(axis, 1);
  }
  bool reduces_all(const node& n) const {
    const int rank = n.outputs[0].shape.rank();
    if (rank < 0) return false;
    const unsigned all = (1u << rank) - 1;
    return op::detail::reduced_axes(n.attrs, rank).bits == all;
  }

  draft& d_;
  symbolic_shapes shapes_;
  const readers readers_;
  static constexpr node_id not_looked_for = no_node - 1;
  std::vector<node_id> sole_;  // of each map, once it was looked for: many reductions may read one
};

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL int fuse_reductions(draft& d) {
  return detail::reduction_fusion(d).run();
}

}}}  // namespace pinion::v0::op
