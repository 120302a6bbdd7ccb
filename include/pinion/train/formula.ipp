// Bodies of <pinion/train/formula.hpp>.
#pragma once

#include <pinion/train/formula.hpp>

namespace pinion::inline v0::train {

PINION_DECL any_expr as_dtype(const any_expr& x, dtype type, source_location where) {
  if (x.dtype() == type) return x;
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = x.dtype();
  p->results.push_back({p->emit_input(false), type});
  graph& g = x.owner();
  return {g,
          {build(g, {.op = op::cast::name,
                     .base_name = std::string(op::cast::base_name),
                     .inputs = {x.endpoint()},
                     .attrs = {{"program", op::shared_program(std::move(p))}},
                     .where = where}),
           0}};
}

}  // namespace pinion::inline v0::train
