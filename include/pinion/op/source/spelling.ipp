// Bodies of <pinion/op/source/spelling.hpp>.
#pragma once

#include <pinion/op/source/spelling.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL node_request constant_request(any_tensor value, std::string_view name, source_location where) {
  return {.op = op::constant::name,
          .base_name = std::string(name.empty() ? op::constant::name : name),
          .attrs = {{"value", std::move(value)}},
          .where = where};
}

PINION_DECL output make_constant(any_tensor value, const std::string& exact_name, source_location where) {
  node_request request = constant_request(std::move(value), "", where);
  request.exact_name = exact_name;
  return {build(default_graph(), std::move(request)), 0};
}

}}}  // namespace pinion::v0::dsl

namespace pinion { inline namespace v0 {

PINION_DECL operation group(std::initializer_list<operation> ops, std::string_view name, source_location where) {
  graph& g = ops.size() ? ops.begin()->owner() : default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  for (const operation& o : ops) request.control_inputs.push_back(o.id(g, "the first of the group"));
  return {g, build(g, std::move(request))};
}

}}  // namespace pinion::v0
