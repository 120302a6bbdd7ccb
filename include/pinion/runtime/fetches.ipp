// Bodies of <pinion/runtime/fetches.hpp>.
#pragma once

#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/runtime/fetches.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// E is an expression, a variable or an operation.
template <class E>
void check_end(const E& e, const graph* mine) {
  if (e.empty())
    throw error(errc::invalid_argument, "an expression or operation that was never assigned was given to run()");
  const node& n = e.owner()[e.id()];
  if (&e.owner() != mine)
    throw error(errc::invalid_argument, "'" + n.name + "' belongs to another graph than the session's")
        .at_node(n.name, n.op, to_string(n.where));
}

}  // namespace detail

PINION_DECL void check_owner(const any_expr& end, const graph* of) {
  detail::check_end(end, of);
}
PINION_DECL void check_owner(const any_variable& end, const graph* of) {
  detail::check_end(end, of);
}
PINION_DECL void check_owner(const operation& end, const graph* of) {
  detail::check_end(end, of);
}

PINION_DECL void fetch_end::check_owner(const graph* of) const {
  using runtime::check_owner;
  if (operation_) return check_owner(*operation_, of);
  if (variable_) return check_owner(*variable_, of);
  if (!parts_) return check_owner(*expression_, of);
  check_owner(parts_->graph.empty() ? any_expr() : any_expr(*parts_->graph, {parts_->read, 0}), of);
}

PINION_DECL any_expr fetch_end::value() const {
  if (variable_) return dsl::endpoint_of(*variable_);
  if (!parts_) return dsl::endpoint_of(*expression_);
  return parts_->graph.empty() ? dsl::endpoint_of(any_variable()) : dsl::endpoint_of(dsl::read_parts(*parts_, {}));
}

PINION_DECL void fetch_end::add_to(step_signature& s, const graph* of) const {
  check_owner(of);
  if (operation_)
    s.targets.push_back(operation_->id());
  else
    s.fetches.push_back(value().endpoint());
}

PINION_DECL void fetch_end::add_to(std::vector<any_expr>& fetches, std::vector<operation>& targets) const {
  if (operation_)
    targets.push_back(*operation_);
  else
    fetches.push_back(value());
}

}}}  // namespace pinion::v0::runtime
