// Bodies of <pinion/train/formula.hpp>.
#pragma once

#include <utility>

#include <pinion/train/formula.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL any_expr as_dtype(const any_expr& x, dtype type, source_location where) {
  graph& g = x.owner();
  return {g, op::cast_to(g, x.endpoint(g), type, where)};
}

PINION_DECL any_expr formula_node(graph& g, const std::string& name, scalar::program program,
                                  std::span<const scalar_value> operands, source_location where) {
  node_request request{.op = op::custom_map::name, .base_name = name, .where = where};
  std::size_t numbers = 0;
  for (const scalar_value& x : operands) {
    if (x.is_number()) {
      program.literals[numbers++] = x.number();
      continue;
    }
    const any_expr& e = x.expression();
    e.id(g, "'" + name + "'");
    request.inputs.push_back(as_dtype(e, dtype::float64, where).endpoint(g));
  }
  request.attrs.set("program", op::shared_program(std::make_shared<const scalar::program>(std::move(program))));
  return {g, {build(g, std::move(request)), 0}};
}

}}}  // namespace pinion::v0::train
