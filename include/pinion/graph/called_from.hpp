// The source line of the user's call, which the nodes made during that call get.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

// While it lives, nodes of this thread are recorded as made at this line. A public function that makes nodes by calling
// other functions, or by operators, opens one with its own `where`; so all nodes of a layer or a loss have the line of
// the user's call. The outermost one decides, and one with an unknown line has no effect. Made and destroyed in one
// thread, in stack order.
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
