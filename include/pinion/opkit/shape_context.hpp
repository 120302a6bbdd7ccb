// What a shape function sees, and where it puts the types of the outputs.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// Valid during one call of a shape function, which reads inputs and attributes, checks them, and calls output() once
// per output in order. It fails by fail(sentence); the builder adds the node and the line.
class shape_context {
 public:
  shape_context(const graph& g, node& n) : graph_(g), node_(n) {}

  const std::string& op() const { return node_.op; }
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  const output_type& type(int i) const { return graph_.type_of(node_.inputs[static_cast<std::size_t>(i)]); }
  pinion::dtype dtype(int i) const { return type(i).dtype; }
  const pinion::shape& shape(int i) const { return type(i).shape; }
  const attributes& attrs() const { return node_.attrs; }

  void output(pinion::dtype type, const pinion::shape& extent, bool reference = false);
  // An output that names something that stays where it is: a queue. It is no value.
  void handle() { node_.outputs.push_back({pinion::dtype::string, {}, false, true}); }
  // The node that makes an input.
  const node& maker(int i) const { return graph_.peek(node_.inputs[static_cast<std::size_t>(i)].node); }
  void expect_handle(int i, std::string_view what) const;
  [[noreturn]] void fail(const std::string& sentence) const;
  void expect_rank(int i, int rank, std::string_view what) const;

 private:
  const graph& graph_;
  node& node_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/shape_context.ipp>
#endif
