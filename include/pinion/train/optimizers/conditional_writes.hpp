// Updates of variables that happen in some steps only.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// While it lives, the nodes that optimizers of this thread build to write variables do so only in steps in which a
// predicate holds, and those of the objects around it. Made and destroyed in one thread, in stack order.
class writes_only_if {
 public:
  explicit writes_only_if(const expr<bool>& holds);
  writes_only_if(const writes_only_if&) = delete;
  ~writes_only_if();
  // The predicate that is open in this thread; null: writes are made in every step.
  static const expr<bool>* current();

 private:
  const expr<bool> all_;  // holds where this predicate and those around it do
  const expr<bool>* before_;
};

// Builds a node whose first input is the variable that it writes: as it is, or in the branch of a conditional in the
// task of that variable. A value of a variable among its inputs is then read in that branch.
operation build_write(graph& g, node_request request);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/conditional_writes.ipp>
#endif
