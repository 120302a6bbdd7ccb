// Bodies of <pinion/train/optimizers/adafactor.hpp>.
#pragma once

#include <pinion/base/number_text.hpp>
#include <pinion/train/optimizers/adafactor.hpp>
#include <pinion/train/optimizers/moments.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>
#include <pinion/train/optimizers/rate_node.hpp>
#include <pinion/train/optimizers/slot_table.hpp>
#include <pinion/train/optimizers/step_node.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL adafactor::adafactor(const options& o) : o_(o) {
  detail::expect_part("the beta1", "adafactor", o.beta1);
  detail::expect_amount("the epsilon1", "adafactor", o.epsilon1);
  detail::expect_amount("the epsilon2", "adafactor", o.epsilon2);
  detail::expect_above_zero("the clip_threshold", "adafactor", o.clip_threshold);
  if (!(o.beta2_decay <= 0))
    throw error(errc::invalid_argument, "the beta2_decay of adafactor is " + number_text(o.beta2_decay) +
                                            "; it is the exponent of the part that is new, and must be at most 0");
}

PINION_DECL scalar_value adafactor::rate(graph& g, const std::vector<gradient_of_variable>& gradients) const {
  const auto t = detail::shared_number(made(), g, detail::first_by_name(g, gradients), "iterations", 1.);
  if (!o_.relative_step) return o_.learning_rate;
  const colocate_with near{operation(t)};
  return scalar_value(detail::rate_node<rates::inverse_root>(g, "Adafactor/rate", {o_.learning_rate, t}));
}

PINION_DECL scalar_value adafactor::new_part(graph& g, node_id variable) const {
  const node_id part = made().find_or_make(g, no_node, "new_part", [&] {
    const control_dependencies none{nullptr};
    const colocate_with apart{nullptr};
    const auto t = handle_of<double>(g, made().find(g, no_node, "iterations"));
    const colocate_with near{operation(t)};
    return detail::rate_node<rates::power_of_step>(g, "Adafactor/new_part", {1, t, o_.beta2_decay}).id(g);
  });
  return scalar_value(detail::rate_of_variable(g, variable, scalar_value(any_expr(g, {part, 0}))));
}

PINION_DECL node_id adafactor::without_axis(graph& g, node_id variable, std::string_view slot_name,
                                            int axis_from_end) const {
  return made().find_or_make(g, variable, slot_name, [&] {
    const shape whole = g[variable].outputs[0].shape;
    std::vector<std::int64_t> extents;
    for (int i = 0; i < whole.rank(); ++i)
      if (i != whole.rank() - axis_from_end) extents.push_back(whole[i]);
    return make_slot_of_shape(g, variable, shape(extents), std::string(name), 0);
  });
}

PINION_DECL output adafactor::factored(graph& g, node_id variable, output gradient, output square) const {
  const node_id r = without_axis(g, variable, "r", 1), c = without_axis(g, variable, "c", 2);
  const scalar_value part = new_part(g, variable);
  const control_dependencies after{
      detail::average_into(g, r, {detail::mean_along(g, square, -1, false), {}, {}}, part),
      detail::average_into(g, c, {detail::mean_along(g, square, -2, false), {}, {}}, part)};
  const output rows = detail::value_of_variable(g, r), columns = detail::value_of_variable(g, c);
  const std::string at = g[variable].name + "/Adafactor";
  const output row =
      detail::step_node<steps::root_of_part>(g, at + "/row", {rows, detail::mean_along(g, rows, -1, true)});
  return detail::step_node<steps::factored_direction>(
      g, at + "/direction", {gradient, detail::with_axis(g, row, -1), detail::with_axis(g, columns, -2)});
}

PINION_DECL output adafactor::plain(graph& g, node_id variable, output gradient, output square) const {
  const node_id v = slot(g, variable, "v", 0);
  const control_dependencies after{detail::average_into(g, v, {square, {}, {}}, new_part(g, variable))};
  return detail::step_node<steps::over_root>(g, g[variable].name + "/Adafactor/direction",
                                             {gradient, detail::value_of_variable(g, v)});
}

PINION_DECL output adafactor::clipped(graph& g, node_id variable, const scalar_value& rate, output direction) const {
  const output plain_rate = detail::rate_of_variable(g, variable, rate).endpoint(g);
  const output size = detail::mean_of_squares(g, direction);
  const std::string at = g[variable].name + "/Adafactor/rate";
  if (!o_.scale_parameter)
    return detail::step_node<steps::clipped_rate>(g, at, {plain_rate, size}, {o_.clip_threshold});
  const output weights = detail::mean_of_squares(g, detail::value_of_variable(g, variable));
  return detail::step_node<steps::relative_rate>(g, at, {plain_rate, size, weights}, {o_.clip_threshold, o_.epsilon2});
}

PINION_DECL operation adafactor::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                           const scalar_value& rate) const {
  const output by = detail::dense_gradient(g, variable, gradient).dense;
  const colocate_with near(operation(g, variable));
  const std::string at = g[variable].name + "/Adafactor";
  const output square = detail::step_node<steps::regulated_square>(g, at + "/square", {by}, {o_.epsilon1});
  const shape& extent = g[variable].outputs[0].shape;
  const bool is_factored = extent.has_rank() && extent.rank() >= 2;
  const output direction = is_factored ? factored(g, variable, by, square) : plain(g, variable, by, square);
  const output size = clipped(g, variable, rate, direction);
  if (o_.beta1 == 0) return detail::descend(g, variable, direction, scalar_value(any_expr(g, size)));
  const node_id m = slot(g, variable, "m", 0);
  const output step = detail::product(g, direction, size);
  const control_dependencies after{detail::average_into(g, m, {step, {}, {}}, 1 - o_.beta1)};
  return detail::descend(g, variable, detail::value_of_variable(g, m), 1);
}

PINION_DECL std::vector<operation> adafactor::finish(graph& g, const std::vector<operation>& updates) const {
  return {detail::change_number(made(), g, name, "iterations", op::assign_add::name, {"one", 1}, updates)};
}

}}}  // namespace pinion::v0::train
