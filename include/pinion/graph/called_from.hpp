// The line of the user's call that the nodes being made belong to.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

// While it lives, nodes of this thread are made at this line: a public function that makes nodes by calling others, or
// by operators, opens one with its own `where`, so that what a layer or a loss is made of stands where the user wrote
// the layer or the loss. The outermost one holds; one of an unknown line says nothing.
class [[nodiscard]] called_from {
 public:
  explicit called_from(source_location where);
  called_from(const called_from&) = delete;
  ~called_from() { scope_state::current().caller = saved_; }

 private:
  source_location saved_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/called_from.ipp>
#endif
