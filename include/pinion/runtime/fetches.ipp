// Bodies of <pinion/runtime/fetches.hpp>.
#pragma once

#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/runtime/fetches.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// E is an expression or an operation.
template <class E>
const E& assigned(const E& end) {
  if (end.empty())
    throw error(errc::invalid_argument, "an expression or operation that was never assigned was given to run()");
  return end;
}

}  // namespace detail

PINION_DECL output end_in(const graph_ref& of, const any_expr& end) {
  return detail::assigned(end).endpoint(*of, "the session's");
}
PINION_DECL node_id end_in(const graph_ref& of, const operation& end) {
  return detail::assigned(end).id(*of, "the session's");
}

// The node that is fetched; an empty operation where it was never assigned.
PINION_DECL operation fetch_end::node() const {
  if (operation_) return *operation_;
  if (variable_) return variable_->empty() ? operation() : operation(*variable_);
  if (!parts_) return expression_->empty() ? operation() : operation(*expression_);
  return parts_->graph.empty() ? operation() : operation(*parts_->graph, parts_->read);
}

PINION_DECL any_expr fetch_end::value() const {
  if (variable_) return dsl::endpoint_of(*variable_);
  if (!parts_) return dsl::endpoint_of(*expression_);
  return parts_->graph.empty() ? dsl::endpoint_of(any_variable()) : dsl::endpoint_of(dsl::read_parts(*parts_, {}));
}

PINION_DECL void fetch_end::add_to(step_signature& s, const graph_ref& of) const {
  const node_id known = end_in(of, node());  // before a node is made that reads it
  if (operation_)
    s.targets.push_back(known);
  else
    s.fetches.push_back(end_in(of, value()));
}

PINION_DECL void fetch_end::add_to(std::vector<any_expr>& fetches, std::vector<operation>& targets) const {
  if (operation_)
    targets.push_back(*operation_);
  else
    fetches.push_back(value());
}

}}}  // namespace pinion::v0::runtime
