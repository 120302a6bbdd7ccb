// The context of a gradient function: it reads the node and the gradients of its outputs there, and leaves the
// gradients of its inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// The gradient of a value: dense, or sparse as those of its rows that are not zero. Row i belongs to index indices[i];
// where an index stands more than once, its rows add up.
//
// A value of ids: the nodes are in the graph that is differentiated.
struct gradient_value {
  output dense{};
  output indices{};  // of a sparse gradient: int32 or int64, [n]
  output rows{};     // of a sparse gradient: [n, ...]

  bool is_sparse() const { return rows.node != no_node; }
};

// The argument of a gradient function, valid during one call. The function calls set() or pass() for each input that
// has a gradient; the other inputs have none. Reshape gives the gradient the shape of its input:
//
//   static void gradient(pn::gradient_context& g) {
//     g.set(0, g.make("ReshapeLike", {g.output_gradient(0), g.input(0)}));
//   }
//
// It fails by fail(sentence), which throws unimplemented.
//
// The rule must be written with nodes, since it runs once, when the graph is built, and its result is differentiated
// again for a second gradient. An op of two inputs, y = a b:
//
//   static void gradient(pn::gradient_context& g) {
//     const pn::output dy = g.output_gradient(0);
//     g.set(0, g.make("MatMul", {dy, g.input(1)}, {{"transpose_b", true}}));
//     g.set(1, g.make("MatMul", {g.input(0), dy}, {{"transpose_a", true}}));
//   }
//
// Only inputs of float or double have gradients; setting another one is a mistake.
class gradient_context {
 public:
  // A request to differentiate a graph: the ends `ys`, the gradients of these, and the outputs `xs` by which. No
  // gradient passes through the nodes `stops`.
  struct request {
    graph& of;
    std::vector<pinion::output> ys, gradients_of_ys, xs;
    std::vector<node_id> stops;
  };
  using differentiator = std::vector<std::optional<gradient_value>> (*)(const request&);

  // `of` is the forward node, or a copy of it that computes its values again; then `original` is the node itself.
  gradient_context(graph& g, node_id of, std::vector<std::optional<gradient_value>> output_gradients,
                   differentiator how = nullptr, std::vector<bool> wanted = {}, node_id original = no_node);

  // The last part of the forward node's name, after which its gradient is named.
  std::string base_name() const;
  // The forward node, its attributes, its inputs and outputs, and their types.
  const pinion::node& node() const { return graph_.peek(id_); }
  const attributes& attrs() const { return node().attrs; }
  pinion::output input(int i) const { return node().inputs[static_cast<std::size_t>(i)]; }
  pinion::output output(int i) const { return {id_, i}; }
  const output_type& type_of(pinion::output o) const { return graph_.type_of(o); }
  // Tells whether the gradient of an input is asked for. One that is set although nobody asks is not used.
  bool wants(int input) const { return wanted_.empty() || wanted_[static_cast<std::size_t>(input)]; }
  // Tells whether the result depends on an output. output_gradient() then makes no zeros.
  bool has_output_gradient(int i) const { return of_output_[static_cast<std::size_t>(i)].has_value(); }
  // The dense gradient of an output; zeros where the result does not depend on that output.
  // It has the shape and dtype of that output.
  pinion::output output_gradient(int i);
  // Makes the gradient of an output that of an input, unchanged: a sparse one stays sparse.
  void pass(int output, int input);

  graph& owner() { return graph_; }
  // Differentiates another graph: the body of a node.
  std::vector<std::optional<gradient_value>> differentiate(const request& r) const { return differentiate_(r); }

  // Elementwise gradients are written as expressions of this graph, which are fused:
  //
  //   const pn::expr<float> dy(g.owner(), g.output_gradient(0)), x(g.owner(), g.input(0));
  //   g.set(0, (dy * 2.f * x).endpoint(g.owner()));
  //
  // Makes a node of an op beside the forward node, named after both, and returns its first output.
  // It takes the device request of the forward node. Throws what build() throws.
  pinion::output make(std::string_view op, std::vector<pinion::output> inputs, attributes attrs = {});

  // Sets the gradient of an input: a dense one, of the input's shape, or a sparse one of rows at indices.
  void set(int input, pinion::output dense);
  // It suits ops that read few rows of a large input. An index that is there twice counts twice.
  void set_sparse(int input, pinion::output indices, pinion::output rows);
  // Throws unimplemented with this sentence.
  [[noreturn]] void fail(const std::string& sentence) const;

 private:
  graph& graph_;
  node_id id_;
  std::vector<std::optional<gradient_value>> of_output_;
  std::vector<bool> wanted_;
  differentiator differentiate_;

 public:
  std::vector<std::optional<gradient_value>> of_input;  // the result, read by autodiff

 private:
  node_id original_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/gradient_context.ipp>
#endif
