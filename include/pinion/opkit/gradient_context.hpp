// What a gradient function sees, and where it puts the gradients of the inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// The gradient of a value: dense, or the rows of it that are not zero (row i belongs to index indices[i]; an index
// may stand more than once, and its rows add up).
struct gradient_value {
  output dense{};
  output indices{};  // of a sparse one: int32 or int64, [n]
  output rows{};     // [n, ...]

  bool is_sparse() const { return rows.node != no_node; }
};

// Valid during one call of a gradient function: the node it differentiates, the gradients of its outputs, and the means
// to build nodes. Calls set() for each input that has a gradient; inputs left out have none.
class gradient_context {
 public:
  // How a graph is differentiated: ends and the gradients of each, and by what; beyond the nodes `stops` nothing flows.
  struct request {
    graph& of;
    std::vector<pinion::output> ys, gradients_of_ys, xs;
    std::vector<node_id> stops;
  };
  using differentiator = std::vector<std::optional<gradient_value>> (*)(const request&);

  gradient_context(graph& g, node_id of, std::vector<std::optional<gradient_value>> output_gradients,
                   differentiator how = nullptr, std::vector<bool> wanted = {});

  const pinion::node& node() const { return graph_.peek(id_); }
  const attributes& attrs() const { return node().attrs; }
  pinion::output input(int i) const { return node().inputs[static_cast<std::size_t>(i)]; }
  pinion::output output(int i) const { return {id_, i}; }
  const output_type& type_of(pinion::output o) const { return graph_.type_of(o); }
  // Does somebody ask for the gradient of an input? What is set for another one is not used.
  bool wants(int input) const { return wanted_.empty() || wanted_[static_cast<std::size_t>(input)]; }
  bool has_output_gradient(int i) const { return of_output_[static_cast<std::size_t>(i)].has_value(); }
  // The gradient of an output, dense; zeros where the result does not depend on it.
  pinion::output output_gradient(int i);
  // The gradient of an input is that of an output, as it is: a sparse one stays sparse.
  void pass(int output, int input);

  graph& owner() { return graph_; }
  // The gradients in another graph: in the body of a node.
  std::vector<std::optional<gradient_value>> differentiate(const request& r) const { return differentiate_(r); }

  // Builds a node "<op>" beside the one differentiated and returns its first output.
  pinion::output make(std::string_view op, std::vector<pinion::output> inputs, attributes attrs = {});

  void set(int input, pinion::output dense);
  void set_sparse(int input, pinion::output indices, pinion::output rows);
  [[noreturn]] void fail(const std::string& sentence) const;

 private:
  graph& graph_;
  node_id id_;
  std::vector<std::optional<gradient_value>> of_output_;
  std::vector<bool> wanted_;
  differentiator differentiate_;

 public:
  std::vector<std::optional<gradient_value>> of_input;  // the result, read by autodiff
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/gradient_context.ipp>
#endif
