// A placed step as a draft: a copy of its nodes that passes rewrite before it is cut.
//
// Invariants
//   1. An edge leads from an earlier node to a later one; a node keeps its place, its name and its device.
//   2. What is fetched, fed or a target stays, as what it computes, though perhaps as another op.
//   3. A pass changes no value but by rounding, and nothing that has a state.
#pragma once

#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/plan/rewritten_step.hpp>
#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The step that is cut and run: a graph of its own, under ids of its own. Without a graph, the placed step as it is.
struct optimized_step {
  std::shared_ptr<const pinion::graph> graph;
  pinion::placement placement;
  step_signature signature;
  std::vector<node_fate> fates = {};  // of the nodes that were placed, in their order
};

class draft {
 public:
  struct item {
    pinion::node node;  // its edges name items by their place in the draft
    node_id original = no_node;
    int device = -1;  // -1: it is fed, and does not run
    bool gone = false;
    bool computed = false;          // a constant that a pass computed
    node_id replaced_by = no_node;  // the item that computes the same
    node_id folded_into = no_node;  // the item that does its work, once nothing else reads it
  };

  draft(const graph& g, const placement& placed, const step_signature& s);

  node_id size() const { return static_cast<node_id>(items_.size()); }
  const item& operator[](node_id i) const { return items_[static_cast<std::size_t>(i)]; }
  const node& node_at(node_id i) const { return (*this)[i].node; }
  const output_type& type_of(output o) const { return node_at(o.node).outputs[static_cast<std::size_t>(o.index)]; }
  // Does it run, and may it be rewritten?
  bool runs(node_id i) const { return (*this)[i].device >= 0 && !(*this)[i].gone; }
  bool is_fed(node_id i) const;
  // Would it yield the same again, and change nothing?
  bool is_repeatable(node_id i) const;

  // How often its outputs are read, fetched, waited for. Counted anew by count_uses().
  int uses(node_id i) const { return uses_[static_cast<std::size_t>(i)]; }
  void count_uses();

  // ---- what passes do

  node& change(node_id i) { return items_[static_cast<std::size_t>(i)].node; }
  // It computes what another, earlier node does. Whoever uses it uses that one, once redirect() was called for him.
  void replace(node_id i, node_id by);
  // Another, later node does its work too. It stays as long as others read it.
  void fold(node_id i, node_id into) { items_[static_cast<std::size_t>(i)].folded_into = into; }
  // Its value is known: it becomes a constant, and its inputs are folded into it.
  void compute(node_id i, const any_tensor& value);
  void redirect(node_id user);
  void redirect_ends();
  // Nodes that nothing needs any more go.
  int drop_dead();

  optimized_step finished();

 private:
  // What stands for a node now; the one that replaced it was not replaced itself.
  node_id present(node_id i) const;
  node_fate fate_of(node_id i) const;

  const placement& placed_;
  std::vector<item> items_;
  step_signature signature_;
  std::vector<int> uses_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/draft.ipp>
#endif
