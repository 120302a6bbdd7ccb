// Bodies of <pinion/op/variable/local_variables.hpp>.
#pragma once

#include <pinion/graph/scope_state.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/op/variable/local_variables.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL operation local_variables_initializer(std::string_view name, source_location where) {
  graph& g = default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  request.control_inputs = g.collection("local_initializers");
  return {g, build(g, std::move(request))};
}

}}  // namespace pinion::v0
