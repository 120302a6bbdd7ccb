// Bodies of <pinion/runtime/optimize/order_initial_values.hpp>.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/op/control/bodies.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/runtime/optimize/order_initial_values.hpp>
#include <pinion/state/key.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

class initial_value_order {
 public:
  explicit initial_value_order(draft& d) : d_(d), seen_(static_cast<std::size_t>(d.size()), 0) {
    for (node_id i = 0; i < d.size(); ++i)
      if (is_initializer(i)) initializers_.emplace(d.node_at(i).inputs[0].node, i);
  }

  int run() {
    if (initializers_.size() < 2) return 0;
    for (const auto& [variable, initializer] : initializers_) walk(d_.node_at(initializer).inputs[1].node);
    return ordered_;
  }

 private:
  bool is_initializer(node_id i) const {
    const node& n = d_.node_at(i);
    return d_.runs(i) && n.op == op::assign::name && n.name == d_.node_at(n.inputs[0].node).name + "/Assign";
  }
  // Visits all nodes that a value is computed from.
  void walk(node_id value) {
    std::vector<node_id> open{value};
    while (!open.empty()) {
      const node_id i = open.back();
      open.pop_back();
      if (std::exchange(seen_[static_cast<std::size_t>(i)], 1) || !d_.runs(i) || is_initializer(i)) continue;
      const node& n = d_.node_at(i);
      for (const output& in : n.inputs) open.push_back(in.node);
      open.insert(open.end(), n.control_inputs.begin(), n.control_inputs.end());
      order(i);
    }
  }
  // Lets a node wait for the initialisers of the variables that it reads, itself or in a body.
  void order(node_id reader) {
    const node& n = d_.node_at(reader);
    std::vector<node_id> before;
    for (const output& in : n.inputs)
      if (const auto at = initializers_.find(in.node); at != initializers_.end()) before.push_back(at->second);
    if (op::any_body(n, [](const body&) { return true; }))
      for (const auto& [variable, initializer] : initializers_)
        if (op::any_body(
                n, [&, of = variable](const body& b) { return op::reads_state(b, state::key_of(d_.node_at(of))); }))
          before.push_back(initializer);
    for (const node_id initializer : before) wait(reader, initializer);
  }
  // An initialiser stands before what reads its variable, so that no circle is closed.
  void wait(node_id reader, node_id initializer) {
    auto& before = d_.change(reader).control_inputs;
    if (initializer > reader || std::find(before.begin(), before.end(), initializer) != before.end()) return;
    before.push_back(initializer);
    ++ordered_;
  }

  draft& d_;
  std::unordered_map<node_id, node_id> initializers_;  // of the variables
  std::vector<char> seen_;
  int ordered_ = 0;
};

}  // namespace detail

PINION_DECL int order_initial_values(draft& d) {
  return detail::initial_value_order(d).run();
}

}}}  // namespace pinion::v0::runtime
