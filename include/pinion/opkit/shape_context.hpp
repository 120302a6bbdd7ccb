// The context of a shape function: it reads the inputs there, and leaves the types of the outputs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// The argument of a shape function, valid during one call. The function reads input types and attributes, checks them,
// and calls output() once for each output, in order. It fails by fail(sentence), which throws invalid_argument; the
// error names the node and its line.
//
//   static void infer(pn::shape_context& c) {
//     c.expect_rank(0, 2, "the operand of row_sums");
//     c.output(c.dtype(0), {c.shape(0).has_rank() ? c.shape(0)[0] : pn::unknown});
//   }
//
// It runs where the node is made, so a mistake is found at the user's line. Let unknown shapes pass, and check them in
// the kernel again: fits(shape, wanted) is true for all that may still turn out right. The function of a library's op
// also runs where a step is compiled, over symbols for extents that are unknown: they are negative, and not -1.
class shape_context {
 public:
  shape_context(const graph& g, node& n) : graph_(&g), node_(n), outputs_(n.outputs) {}
  // The types of the inputs are `inputs`, and the outputs go to `outputs`. Requires: no input is a resource.
  shape_context(const node& n, std::span<const output_type> inputs, std::vector<output_type>& outputs)
      : node_(n), inputs_(inputs), outputs_(outputs) {}

  // The op of the node, the number of its inputs, and their types. A shape may be unknown, or have unknown extents.
  const std::string& op() const { return node_.op; }
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  const output_type& type(int i) const;
  pinion::dtype dtype(int i) const { return type(i).dtype; }
  const pinion::shape& shape(int i) const { return type(i).shape; }
  const attributes& attrs() const { return node_.attrs; }

  // Adds an output. `reference` marks one that names the state of a variable.
  // Declare the strictest shape that is known: consumers check against it.
  void output(pinion::dtype type, const pinion::shape& extent, bool reference = false);
  // Adds an output that is no value: it names a resource, such as a queue.
  void handle() { outputs_.push_back({pinion::dtype::string, {}, false, true}); }
  // The graph of the node; null where a step is compiled.
  const graph* owner() const { return graph_; }
  pinion::output input(int i) const { return node_.inputs[static_cast<std::size_t>(i)]; }
  // The node that makes input i.
  const node& maker(int i) const { return graph_->peek(node_.inputs[static_cast<std::size_t>(i)].node); }
  // Fails unless input i names a resource; `what` names it in the sentence: "a queue".
  void expect_handle(int i, std::string_view what) const;
  // Throws invalid_argument with this sentence.
  // A good sentence names both shapes and says which would do.
  [[noreturn]] void fail(const std::string& sentence) const;
  // Fails where a dtype, of an input or of an attribute, is none of those that the op takes.
  void expect_dtype(pinion::dtype type, dtype_set types) const;
  // Fails where input i has another dtype than input k, or an input behind `first` another one than that.
  void expect_same_dtype(int i, int k = 0) const;
  void expect_one_dtype(int first = 0) const;
  // Fails where input i has a known rank other than `rank`; `what` names the input in the sentence.
  void expect_rank(int i, int rank, std::string_view what) const;

 private:
  const graph* graph_ = nullptr;
  const node& node_;
  std::span<const output_type> inputs_;  // where there is no graph
  std::vector<output_type>& outputs_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/shape_context.ipp>
#endif
