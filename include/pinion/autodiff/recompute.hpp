// Memory for compute: a part of a model whose values are computed again for the backward pass, instead of being kept.
#pragma once

#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/graph_ref.hpp>

namespace pinion { inline namespace v0 {

namespace autodiff {

// While it lives, nodes that this thread makes in its default graph belong to one part that is computed again. A part
// within a part belongs to the outer one. Made and destroyed in one thread, in stack order.
class [[nodiscard]] recomputed_scope {
 public:
  PINION_GUARD explicit recomputed_scope(source_location where);
  recomputed_scope(const recomputed_scope&) = delete;
  ~recomputed_scope();

 private:
  graph_ref graph_;
};

}  // namespace autodiff

// Calls a function that builds a part of a model, and returns what it returns: an expression, a tuple or struct of
// them, or nothing. gradients(), and so every optimizer, keeps no value of the part for the backward pass but its
// inputs: the values that a gradient reads are computed again, by copies of the nodes, once the gradients of the part's
// results have come. The gradients are the same.
//
//   for (int i = 0; i < 24; ++i) x = pn::recompute([&] { return block(x); });   // 24 inputs of blocks, and one block
//
// Nodes of the default graph are marked, which nothing sends: a gradient is made where the model was. Kept, as they
// cannot be computed again, are random draws, values of variables, what comes out of queues, and all else that differs
// from one run to the next: dropout has one mask in both passes. Kept, too, are constants and what follows from them.
// Parts within a part belong to that one. In the body of a while_loop it changes nothing, since the gradient of a
// loop computes the bodies again as it is. A copy is called NAME/recompute and runs on the device of its node. A value
// within a part that is fed counts in the forward pass only. A gradient of a gradient keeps the values of the copies.
//
// session::plan notes for each part the bytes that are not kept, and the operations that are paid for it;
// recomputed_parts() (autodiff/recomputed_parts.hpp) has them as numbers. Store the result before it is used: a
// temporary may be fused into what reads it. TensorFlow: tf.recompute_grad.
template <class Part>
auto recompute(Part&& part, source_location where = source_location::current()) {
  static_assert(std::is_invocable_v<Part>, "recompute takes a function that builds the part: [&] { return block(x); }");
  const autodiff::recomputed_scope scope(where);
  return std::forward<Part>(part)();
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/autodiff/recompute.ipp>
#endif
