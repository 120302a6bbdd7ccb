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
                     .inputs = {x.endpoint()},
                     .attrs = {{"program", op::shared_program(std::move(p))}},
                     .where = where}),
           0}};
}

PINION_DECL formula_builder::formula_builder(graph& g, const std::string& name, source_location where)
    : g_(g),
      program_(std::make_shared<scalar::program>()),
      request_{.op = op::custom_map::name, .base_name = name, .where = where} {
  program_->arithmetic = dtype::float64;
}

PINION_DECL formula_value formula_builder::operand(const scalar_value& value) {
  if (value.is_number()) return {program_.get(), program_->emit_literal(value.number())};
  const any_expr& e = value.expression();
  if (&e.owner() != &g_)
    throw error(errc::invalid_argument, "'" + e.name() + "' belongs to another graph than '" + request_.base_name + "'")
        .at_node(e.name(), e.op(), to_string(e.node().where));
  request_.inputs.push_back(as_dtype(e, dtype::float64, request_.where).endpoint());
  return {program_.get(), program_->emit_input(false)};
}

PINION_DECL any_expr formula_builder::finish(const formula_value& result) {
  program_->results.push_back({result.id, dtype::float64});
  request_.attrs.set("program", op::shared_program(std::move(program_)));
  return {g_, {build(g_, std::move(request_)), 0}};
}

}}}  // namespace pinion::v0::train
