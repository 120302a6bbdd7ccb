// Bodies of <pinion/op/variable/variable.hpp>.
#pragma once

#include <unordered_map>
#include <utility>

#include <pinion/dsl/trace.hpp>
#include <pinion/graph/scope_state.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL const std::string& any_variable::name() const {
  return (*graph_)[variable_].name;
}
PINION_DECL const std::string& any_variable::op() const {
  return (*graph_)[variable_].op;
}
PINION_DECL const device_spec& any_variable::requested_device() const {
  return (*graph_)[variable_].requested;
}
PINION_DECL const shape& any_variable::shape() const {
  return graph_->type_of({variable_, 0}).shape;
}

PINION_DECL any_expr any_variable::read(source_location where) const {
  if (!scope_state::current().control) {
    dsl::body_trace* const t = dsl::body_trace::current();
    if (t && t->waits_outside()) return t->outside([&] { return read(where); });
    return {*graph_, {read_, 0}};
  }
  const dsl::endpoint variable = dsl::captured_in(*graph_, {variable_, 0});
  const node_id made =
      build(*variable.of,
            {.op = op::identity::name, .base_name = name() + "/read", .inputs = {variable.what}, .where = where});
  return {*variable.of, {made, 0}};
}

namespace detail {
// The assign and the read of each variable, by the node of its state. Attached to the graph.
struct kept_variables {
  std::unordered_map<node_id, std::pair<node_id, node_id>> ends;
};
}  // namespace detail

PINION_DECL any_variable variable_of(graph& g, node_id state) {
  const auto& kept = g.attached<detail::kept_variables>().ends;
  const auto at = kept.find(state);
  if (at == kept.end())
    throw error(errc::not_found, "no variable was made of this node, whose assign and read could be told")
        .at_node(g[state].name, g[state].op, to_string(g[state].where));
  return {g, state, at->second.first, at->second.second};
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL void keep_variable(const any_variable& v) {
  graph& g = v.owner();
  g.attached<pinion::detail::kept_variables>().ends[v.id(g)] = {v.initializer().id(g), v.read_id(g)};
}

PINION_DECL any_expr endpoint_of(const any_variable& v, source_location where) {
  if (v.empty()) throw error(errc::invalid_argument, "a variable_handle that was never assigned is used as an operand");
  return endpoint_of(v.read(where), where);
}

PINION_DECL void join_graph(graph*& all, const any_variable& v) {
  if (v.empty()) throw error(errc::invalid_argument, "an expression that was never assigned is used as an operand");
  join_graph(all, any_expr(v.owner(), v.reference(v.owner())));
}

}}}  // namespace pinion::v0::dsl
