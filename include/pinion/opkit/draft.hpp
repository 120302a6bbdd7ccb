// A draft is a copy of the nodes of a placed step, which passes rewrite before the step is cut.
//
// Invariants
//   1. An edge leads from an earlier node to a later one; a node keeps its position, its name and its device.
//   2. Fetched, fed and target nodes stay and keep their values, though perhaps as another op.
//   3. A pass changes no value and no state except by rounding.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/node_fate.hpp>

namespace pinion { inline namespace v0 {

// A step while passes rewrite it. Used by one thread. The optimizer of a session makes it and takes what it has become;
// a family of ops has its patterns beside its definitions, as functions of a draft (op/rewrites.hpp).
class draft {
 public:
  struct item {
    pinion::node node;  // its edges refer to items by their index in the draft
    node_id original = no_node;
    int device = -1;  // -1: the node is fed, and does not run
    bool gone = false;
    bool computed = false;          // a constant that a pass computed
    node_id replaced_by = no_node;  // the item that computes the same
    node_id folded_into = no_node;  // the item that does its work, once nothing else reads it
    node_id apart_from = no_node;   // the item that could do its work but for this obstacle
    node_fate::obstacle obstacle = node_fate::none;
  };
  // The ends of a step: outputs that are fed or fetched, and nodes that are only run.
  struct ends {
    std::vector<output> feeds, fetches;
    std::vector<node_id> targets;
  };

  // `device_types` are "CPU", "GPU", ..., by the devices' numbers.
  draft(std::vector<item> items, ends of_step, std::vector<std::string> device_types);

  node_id size() const { return static_cast<node_id>(items_.size()); }
  const item& operator[](node_id i) const { return items_[static_cast<std::size_t>(i)]; }
  const node& node_at(node_id i) const { return (*this)[i].node; }
  const output_type& type_of(output o) const { return node_at(o.node).outputs[static_cast<std::size_t>(o.index)]; }
  // Does the node run, and may it be rewritten?
  bool runs(node_id i) const { return (*this)[i].device >= 0 && !(*this)[i].gone; }
  bool is_fed(node_id i) const { return fed_[static_cast<std::size_t>(i)]; }
  // Is it fetched, or a target of the step?
  bool is_end(node_id i) const { return is_end_[static_cast<std::size_t>(i)]; }
  // Is the device of the node, which runs, a CPU, or a GPU?
  bool is_on_cpu(node_id i) const { return device_type(i) == "CPU"; }
  bool is_on_gpu(node_id i) const { return device_type(i) == "GPU"; }

  // The number of times its outputs are read, fetched or waited for, as of the last count_uses().
  int uses(node_id i) const { return uses_[static_cast<std::size_t>(i)]; }
  void count_uses();

  // ---- changes by passes

  node& change(node_id i) { return items_[static_cast<std::size_t>(i)].node; }
  // Marks node `i` as equal to the earlier node `by`. Each user of `i` reads `by` once redirect() was called for the
  // user.
  void replace(node_id i, node_id by);
  // Marks node `i` as computed by the later node `into` as well. The node stays as long as others read it.
  void fold(node_id i, node_id into) { items_[static_cast<std::size_t>(i)].folded_into = into; }
  // Notes for the plan why node `i` is not folded into its reader. The first reader that is told of is kept.
  void keep_apart(node_id i, node_id reader, node_fate::obstacle why);
  // Marks node `i` as a constant that a pass has made of it.
  void mark_computed(node_id i) { items_[static_cast<std::size_t>(i)].computed = true; }
  void redirect(node_id user);
  void redirect_ends();
  // Removes nodes that no other node or fetch needs. Returns how many.
  int drop_dead();

 protected:
  std::vector<item> items_;
  ends ends_;

 private:
  const std::string& device_type(node_id i) const { return device_types_[static_cast<std::size_t>((*this)[i].device)]; }
  // Returns the node that stands for `i`: its replacement, which is never replaced itself, or `i`.
  node_id present(node_id i) const;
  void mark_ends();

  std::vector<std::string> device_types_;
  std::vector<int> uses_;
  std::vector<bool> fed_, is_end_;  // a pass asks for every node, and a step may have as many feeds and ends as nodes
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/draft.ipp>
#endif
