// Bodies of <pinion/dsl/expr.hpp>.
#pragma once

#include <pinion/dsl/expr.hpp>
#include <pinion/dsl/trace.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL const node& any_expr::node() const {
  return (*graph_)[output_.node];
}
PINION_DECL std::string any_expr::name() const {
  return output_name(node(), output_.index);
}
PINION_DECL const std::string& any_expr::op() const {
  return node().op;
}
PINION_DECL const device_spec& any_expr::requested_device() const {
  return node().requested;
}
PINION_DECL dtype any_expr::dtype() const {
  return graph_->type_of(output_).dtype;
}
PINION_DECL const shape& any_expr::shape() const {
  return graph_->type_of(output_).shape;
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace dsl {

namespace detail {

inline any_expr drawn(graph& owner, output o) {
  const endpoint here = captured_in(owner, o);
  return {*here.of, here.what};
}

inline void join_graph_of(graph*& all, graph& owner, const operation& culprit) {
  graph* const here = graph_in_use(owner);
  if (all && all != here) culprit.id(*all, "the other operands");
  all = here;
}

}  // namespace detail

PINION_DECL any_expr endpoint_of(const any_expr& a, source_location) {
  if (a.empty()) throw error(errc::invalid_argument, "an expr that was never assigned is used as an operand");
  graph& g = a.owner();
  if (!g.contains(a.id(g)))
    throw error(errc::invalid_argument,
                "a temporary expression was used after it was moved into another one; name it first");
  return detail::drawn(g, a.endpoint(g));
}

PINION_DECL void join_graph(graph*& all, const any_expr& a) {
  if (a.empty()) throw error(errc::invalid_argument, "an expression that was never assigned is used as an operand");
  detail::join_graph_of(all, a.owner(), a);
}

}}}  // namespace pinion::v0::dsl
