// The context of an estimate of an op's work.
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

// The sizes of a node's inputs and outputs, where an unknown extent counts as an assumed one. Valid during one call.
//
// Estimates serve placers and plans; results never depend on them. A matrix product:
//
//   static double work(const pn::work_context& c) {          // [m, k] x [k, n]: 2 m n k operations
//     return 2 * c.count(c.output(0).shape) * c.extent(c.input(0).shape, 1);
//   }
class work_context {
 public:
  work_context(graph_view g, const node& n, std::int64_t unknown_extent)
      : graph_(g), node_(n), unknown_(unknown_extent) {}

  const attributes& attrs() const { return node_.attrs; }
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  const output_type& input(int i) const { return graph_.type_of(node_.inputs[static_cast<std::size_t>(i)]); }
  const output_type& output(int i) const { return node_.outputs[static_cast<std::size_t>(i)]; }

  // An extent of a shape, its number of elements, and the bytes of a value. Unknown extents count as the assumed one.
  double extent(const shape& s, int axis) const;
  double count(const shape& s) const;
  double bytes(const output_type& t) const { return count(t.shape) * static_cast<double>(size_of(t.dtype)); }

  // The number of elements of all outputs, or of all inputs where there are no outputs.
  double elements() const;

 private:
  const graph_view graph_;
  const node& node_;
  std::int64_t unknown_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/work_context.ipp>
#endif
