// The memory that a step takes as it runs in order, as far as shapes tell, and what it takes if some values are
// computed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A node of a step, or a copy of one, in the order in which they run. Inputs refer to entries that come before.
struct step_entry {
  node_id of = no_node;  // in the graph of the step
  std::vector<output> inputs;
  std::vector<node_id> waits_for;  // of a copy, by entries
  bool is_copy = false;
};
using step_entries = std::vector<step_entry>;

// The facts about a step that its memory follows from. Refers to the step, which has a graph of its own. Used by one
// thread.
class step_outline {
 public:
  // The memory of the device that needs the most, in bytes: its variables, and the values that are in use at once.
  struct need {
    std::int64_t bytes = 0;
    node_id at = no_node;  // the entry that runs then
  };

  // An unknown extent counts as `unknown_extent`.
  step_outline(const optimized_step& step, std::int64_t unknown_extent);

  node_id size() const { return static_cast<node_id>(facts_.size()); }
  const optimized_step& step() const { return step_; }
  graph_view view() const { return g_; }
  // Does the node run, rather than be fed?
  bool runs(node_id id) const { return of(id).device >= 0; }
  int device(node_id id) const { return of(id).device; }
  std::uint32_t group(node_id id) const { return of(id).group; }
  // The operations that it takes, and whether these are few beside the elements that it yields.
  double operations(node_id id) const { return of(id).operations; }
  bool is_cheap(node_id id) const { return of(id).is_cheap; }
  // The bytes of an output in the memory of the step; 0 for what lies elsewhere, as a constant or a variable.
  std::int64_t bytes(output o) const { return of(o.node).bytes[static_cast<std::size_t>(o.index)]; }
  // The number of values of the step with unknown shapes.
  int unknown_values() const { return unknown_; }

  // The nodes in their order, without copies.
  step_entries entries() const;
  need need_of(const step_entries& entries) const;

 private:
  struct fact {
    int device = -1;
    std::uint32_t group = 0;
    double operations = 0;
    bool is_cheap = false, hands_on = false, takes_over = false;
    std::vector<std::int64_t> bytes;
  };

  const fact& of(node_id id) const { return facts_[static_cast<std::size_t>(id)]; }
  void know_devices();
  void know(node_id id, std::int64_t unknown_extent);

  const optimized_step& step_;
  const graph_view g_;
  std::vector<fact> facts_;
  std::vector<std::int64_t> variables_;  // bytes, by device
  int unknown_ = 0;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/step_outline.ipp>
#endif
