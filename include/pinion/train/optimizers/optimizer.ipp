// Bodies of <pinion/train/optimizers/optimizer.hpp>.
#pragma once

#include <pinion/train/formula.hpp>
#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion::inline v0::train::detail {

PINION_DECL shared_rate::shared_rate(const graph& g, scalar_value rate) : rate_(std::move(rate)) {
  if (!rate_.is_number() && &rate_.expression().owner() != &g)
    throw error(errc::invalid_argument,
                "the learning rate '" + rate_.expression().name() + "' belongs to another graph than the variables")
        .at_node(rate_.expression().name(), rate_.expression().op(), to_string(rate_.expression().node().where));
}

PINION_DECL scalar_value shared_rate::of(dtype type) {
  if (rate_.is_number()) return rate_;
  auto& known = of_type_[type];
  if (known.empty()) {
    const colocate_with near(operation(rate_.expression()));
    known = as_dtype(rate_.expression(), type, rate_.expression().node().where);
  }
  return scalar_value(known);
}

PINION_DECL void check_variable(const graph& g, node_id variable) {
  if (!g.contains(variable) || g[variable].op != op::variable::name)
    throw error(errc::invalid_argument,
                "apply_gradients: a gradient is given for what is no variable of the default graph");
  const node& v = g[variable];
  if (!is_floating(v.outputs[0].dtype))
    throw error(errc::invalid_argument, "variable '" + v.name + "' is " + std::string(to_string(v.outputs[0].dtype)) +
                                            "; only floating-point variables are trained")
        .at_node(v.name, v.op, to_string(v.where));
}

}  // namespace pinion::inline v0::train::detail
