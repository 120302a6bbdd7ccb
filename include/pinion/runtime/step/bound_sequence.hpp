// Items of small values that follow each other in a step, bound for the types that their values have.
#pragma once

#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/binder.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A sequence of bound items, between the slots of a run. Values that enter are copied to their cells, and values that
// later items read are copied into tensors; all others are never tensors. Belongs to the memory of a run, and refers to
// the executable.
class bound_sequence {
 public:
  // Binds items from `first` on, as many as can be bound for the values that the slots have now.
  bound_sequence(const executable& e, int first, std::span<const any_tensor> slots);

  // The item behind the last one that is bound; the first item itself, if that could not be bound.
  int end() const { return end_; }
  // Tells whether the sequence serves the values that the slots have now.
  bool is_of(std::span<const any_tensor> slots) const;
  // Runs the items from slots to slots. Throws the error of a node.
  void run(std::span<any_tensor> slots, const step_watch* watch);

 private:
  struct passage {
    int slot;
    cell at;
    bool last = false;  // no later item reads the slot
  };
  bool enter(binder& b, int item, std::span<const any_tensor> slots);
  void note_types(int item, std::span<const any_tensor> slots);
  void note_leaving(const binder& b, int first);

  const executable& e_;
  bound_items items_;
  int end_;
  std::vector<passage> entering_, leaving_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/bound_sequence.ipp>
#endif
