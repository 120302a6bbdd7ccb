// Bodies of <pinion/dsl/sources.hpp>.
#pragma once

#include <pinion/dsl/sources.hpp>
#include <pinion/graph/scopes.hpp>

namespace pinion::inline v0::dsl {

PINION_DECL node_request constant_request(any_tensor value, std::string_view name, source_location where) {
  return {.op = op::constant::name,
          .base_name = std::string(name.empty() ? "Const" : name),
          .attrs = {{"value", std::move(value)}},
          .where = where};
}

PINION_DECL std::string variable_name(const std::string& name) {
  name_scope::check(name);
  const std::string wanted = scope_state::current().name_prefix + name;
  std::string given = default_graph().unique_name(wanted);
  if (given != wanted && name != variable_options{}.name) default_graph().note_renamed(given, wanted);
  return given;
}

}  // namespace pinion::inline v0::dsl

namespace pinion::inline v0 {

PINION_DECL operation group(std::initializer_list<operation> ops, std::string_view name, source_location where) {
  graph& g = ops.size() ? ops.begin()->owner() : default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  for (const operation& o : ops) {
    if (&o.owner() != &g)
      throw error(errc::invalid_argument, "group: '" + o.name() + "' belongs to another graph")
          .at_node(o.name(), o.op(), to_string(o.node().where));
    request.control_inputs.push_back(o.id());
  }
  return {g, build(g, std::move(request))};
}

PINION_DECL operation global_variables_initializer(std::string_view name, source_location where) {
  graph& g = default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  request.control_inputs = g.collection("initializers");
  return {g, build(g, std::move(request))};
}

}  // namespace pinion::inline v0
