// Bodies of <pinion/train/formula.hpp>.
#pragma once

#include <utility>

#include <pinion/train/formula.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL any_expr as_dtype(const any_expr& x, dtype type, source_location where) {
  if (x.dtype() == type) return x;
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = x.dtype();
  p->results.push_back({p->emit_input(false), type});
  graph& g = x.owner();
  return {g,
          {build(g, {.op = op::cast::name,
                     .base_name = std::string(op::cast::base_name),
                     .inputs = {x.endpoint(g)},
                     .attrs = {{"program", op::shared_program(std::move(p))}},
                     .where = where}),
           0}};
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
