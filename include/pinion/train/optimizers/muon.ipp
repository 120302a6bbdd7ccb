// Bodies of <pinion/train/optimizers/muon.hpp>.
#pragma once

#include <algorithm>
#include <cmath>

#include <pinion/graph/called_from.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/train/optimizers/moments.hpp>
#include <pinion/train/optimizers/muon.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>
#include <pinion/train/optimizers/step_node.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL muon_of_matrices::muon_of_matrices(const options& o) : o_(o) {
  expect_part("the momentum", "muon", o.momentum);
  expect_amount("the weight_decay", "muon", o.weight_decay);
  expect_above_zero("the number of iterations", "muon", o.iterations);
}

PINION_DECL bool muon_of_matrices::takes(graph& g, const gradient_of_variable& gradient) const {
  const shape& extent = g[gradient.variable].outputs[0].shape;
  return extent.has_rank() && extent.rank() == 2 && !gradient.gradient.is_sparse() &&
         says_of(o_.matrices, g, gradient.variable);
}

PINION_DECL output muon_of_matrices::orthogonal(graph& g, const std::string& at, output x, bool is_wide) const {
  const auto times = [&](output a, output b, const matmul_options& o) { return dsl::make_product(g, a, b, o, {}); };
  x = step_node<steps::over_norm>(g, at + "/first", {x, sum_of_squares(g, x)}, {1e-7});
  for (int i = 0; i < o_.iterations; ++i) {
    const output a = times(x, x, {.transpose_a = !is_wide, .transpose_b = is_wide});
    const output b = step_node<steps::combination>(g, at + "/polynomial", {a, times(a, a, {})}, {-4.7750, 2.0315});
    const output change = is_wide ? times(b, x, {}) : times(x, b, {});
    x = step_node<steps::combination>(g, at + "/next", {x, change}, {3.4445, 1});
  }
  return x;
}

PINION_DECL operation muon_of_matrices::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                                  const scalar_value& rate) const {
  const node_id b = slot(g, variable, "momentum", 0);
  const colocate_with near(operation(g, variable));
  const control_dependencies after{average_into(g, b, gradient, 1 - o_.momentum)};
  const std::string at = g[variable].name + "/Muon";
  output u = value_of_variable(g, b);
  if (o_.use_nesterov) u = step_node<steps::toward>(g, at + "/ahead", {gradient.dense, u}, {o_.momentum});
  const shape extent = g[variable].outputs[0].shape;
  const auto rows = static_cast<double>(extent[0]), columns = static_cast<double>(extent[1]);
  const output x = orthogonal(g, at, u, rows <= columns);
  const double scale = columns > 0 ? std::sqrt(std::max(1., rows / columns)) : 1;
  const output step = step_node<steps::combination>(g, at + "/direction", {x, value_of_variable(g, variable)},
                                                    {scale, o_.weight_decay});
  return descend(g, variable, step, rate);
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL operation muon::apply_gradients(const std::vector<gradient_of_variable>& gradients,
                                            const minimize_options& o, source_location where) const {
  const called_from line(where);
  graph& g = detail::graph_of_step(o);
  std::vector<gradient_of_variable> matrices, others;
  for (const gradient_of_variable& one : detail::checked_gradients(g, gradients))
    (matrices_.takes(g, one) ? matrices : others).push_back(one);
  const detail::in_graph use(g);
  std::vector<operation> made;
  if (!matrices.empty()) made.push_back(matrices_.apply_gradients(matrices, {.name = "Muon/matrices"}, where));
  if (!others.empty()) made.push_back(others_.apply_gradients(others, {.name = "Muon/others"}, where));
  return detail::run_and_count(g, made, "Muon", o, where);
}

}}}  // namespace pinion::v0::train
