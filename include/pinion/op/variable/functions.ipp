// Bodies of <pinion/op/variable/functions.hpp>.
#pragma once

#include <pinion/graph/scopes.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL std::string variable_name(const std::string& name) {
  name_scope::check(name);
  const std::string wanted = scope_state::current().name_prefix + name;
  std::string given = default_graph().unique_name(wanted);
  if (given != wanted && name != variable_options{}.name) default_graph().note_renamed(given, wanted);
  return given;
}

PINION_DECL any_variable make_variable(dtype type, output initial, const std::string& full_name,
                                       const variable_options& options, source_location where) {
  graph& g = default_graph();
  const node_id v =
      build(g, {.op = op::variable::name,
                .attrs = {{"dtype", type}, {"shape", g.type_of(initial).shape}, {"shared_name", options.shared_name}},
                .where = where,
                .exact_name = full_name});
  const node_id assign = build(
      g, {.op = op::assign::name, .inputs = {{v, 0}, initial}, .where = where, .exact_name = full_name + "/Assign"});
  const node_id read =
      build(g, {.op = op::identity::name, .inputs = {{v, 0}}, .where = where, .exact_name = full_name + "/read"});
  g.add_to_collection(options.local ? "local_variables" : "variables", v);
  g.add_to_collection(options.local ? "local_initializers" : "initializers", assign);
  if (options.trainable) g.add_to_collection("trainable_variables", v);
  const any_variable made(g, v, assign, read);
  keep_variable(made);
  return made;
}

PINION_DECL any_variable make_variable(any_tensor initial, const variable_options& options, source_location where) {
  const std::string name = variable_name(options.name);
  const dtype type = initial.dtype();
  const output constant = make_constant(std::move(initial), name + "/initial_value", where);
  return make_variable(type, constant, name, options, where);
}

}}}  // namespace pinion::v0::dsl

namespace pinion { inline namespace v0 {

namespace dsl {
// The nodes of a collection of the default graph whose names are in a scope; all of them if that is empty.
inline std::vector<operation> in_scope(const char* collection, std::string_view scope) {
  graph& g = default_graph();
  std::vector<operation> found;
  for (const node_id id : g.collection(collection)) {
    const std::string_view name = g[id].name;
    if (scope.empty() || name == scope || (name.starts_with(scope) && name[scope.size()] == '/'))
      found.push_back({g, id});
  }
  return found;
}
}  // namespace dsl

PINION_DECL std::vector<operation> global_variables(std::string_view scope) {
  return dsl::in_scope("variables", scope);
}
PINION_DECL std::vector<operation> trainable_variables(std::string_view scope) {
  return dsl::in_scope("trainable_variables", scope);
}

PINION_DECL operation global_variables_initializer(std::string_view name, source_location where) {
  graph& g = default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  request.control_inputs = g.collection("initializers");
  return {g, build(g, std::move(request))};
}

}}  // namespace pinion::v0
