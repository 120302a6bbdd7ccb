// Bodies of <pinion/train/optimizers/mixed_precision.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/base/number_text.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/train/optimizers/mixed_precision.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/slot_table.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL mixed_precision_options checked_options(mixed_precision_options o) {
  if (o.compute != dtype::bfloat16 && o.compute != dtype::half && o.compute != dtype::float32)
    throw error(errc::invalid_argument, "compute of mixed_precision is " + std::string(to_string(o.compute)) +
                                            "; it must be bfloat16 or half, or float for products as they are");
  if (o.initial_scale != 0 && !(o.initial_scale >= 0x1p-126 && o.initial_scale <= 0x1p127))
    throw error(errc::invalid_argument, "initial_scale of mixed_precision is " + number_text(o.initial_scale) +
                                            "; it must be from 2^-126 up to 2^127, or 0");
  if (o.growth_interval < 0)
    throw error(errc::invalid_argument, "growth_interval of mixed_precision is " + std::to_string(o.growth_interval) +
                                            "; it must be a number of steps, or 0 for a scale that stays");
  if (o.initial_scale == 0 && o.compute == dtype::half) o.initial_scale = 0x1p15;
  return o;
}

inline variable_handle<float> scale_beside(slot_table& made, graph& g, node_id beside,
                                           const mixed_precision_options& o) {
  return shared_number(made, g, beside, "loss_scale", static_cast<float>(o.initial_scale));
}

// The variable, among those by which a loss is differentiated, whose name comes first; no_node where there is none.
inline node_id first_variable(graph& g, const std::vector<operation>& variables) {
  std::vector<node_id> all;
  for (const operation& v : variables) all.push_back(v.id(g, "the loss's"));
  if (all.empty()) all = g.collection("trainable_variables");
  const auto by_name = [&](node_id a, node_id b) { return g[a].name < g[b].name; };
  const auto first = std::min_element(all.begin(), all.end(), by_name);
  return first == all.end() ? no_node : *first;
}

PINION_DECL void make_scale(slot_table& made, graph& g, const std::vector<operation>& variables,
                            const mixed_precision_options& o) {
  if (o.initial_scale == 0) return;
  const in_graph use(g);
  if (const node_id beside = first_variable(g, variables); beside != no_node) scale_beside(made, g, beside, o);
}

// A number in the dtype of T. These expressions are part of the gradients, and stand where the loss does.
template <class T>
expr<T> scale_as(const expr<float>& scale) {
  if constexpr (std::is_same_v<T, float>)
    return scale;
  else
    return cast<T>(scale, {}, {});
}

PINION_DECL output scaled_loss(slot_table& made, graph& g, output loss, const std::vector<operation>& variables,
                               const mixed_precision_options& o) {
  make_scale(made, g, variables, o);
  const node_id found = made.find(g, no_node, "loss_scale");
  const dtype type = g.type_of(loss).dtype;
  if (found == no_node || !is_floating(type)) return loss;
  const expr<float> scale = handle_of<float>(g, found);
  const name_scope scope("gradients");
  const same_device there(g, loss.node);
  if (type == dtype::float32) return expr<float>(expr<float>(g, loss) * scale).endpoint(g);
  return expr<double>(expr<double>(g, loss) * scale_as<double>(scale)).endpoint(g);
}

PINION_DECL std::vector<gradient_of_variable> unscaled_gradients(const slot_table& made, graph& g,
                                                                 const std::vector<gradient_of_variable>& gradients) {
  const expr<float> scale = handle_of<float>(g, made.find(g, no_node, "loss_scale"));
  const name_scope scope("gradients");
  // The difference adds 0, or NaN where x is not finite, so that no clipping hides it.
  return change_gradients(gradients,
                          [&]<class T>(const expr<T>& x) -> expr<T> { return x / scale_as<T>(scale) + (x - x); });
}

PINION_DECL expr<bool> all_finite(graph& g, const std::vector<gradient_of_variable>& gradients) {
  std::vector<expr<double>> zeros;  // NaN for a gradient that is not finite
  change_gradients(gradients, [&]<class T>(const expr<T>& x) {
    zeros.push_back(expr<double>(cast<double>(reduce_sum(x - x))));
    return x;
  });
  const colocate_with near(operation(g, first_by_name(g, gradients)));
  expr<double> sum = zeros[0];
  for (std::size_t i = 1; i < zeros.size(); ++i) sum = expr<double>(sum + zeros[i]);
  return sum == 0.0;
}

// A write of a value to a variable of one number, in the steps in which writes are made.
template <class T>
operation write_number(graph& g, const variable_handle<T>& number, std::string_view op, const expr<T>& value) {
  return build_write(
      g,
      {.op = op, .base_name = number.name() + "/" + std::string(op), .inputs = {{number.id(g), 0}, value.endpoint(g)}});
}

// The writes that change the scale after a step.
inline std::vector<operation> change_scale(slot_table& made, graph& g, node_id beside, const expr<bool>& finite,
                                           const mixed_precision_options& o) {
  const auto scale = scale_beside(made, g, beside, o);
  const auto good = shared_number(made, g, beside, "good_steps", std::int64_t{0});
  const float least = std::min(1.f, static_cast<float>(o.initial_scale));
  const colocate_with near{operation(scale)};
  const expr<std::int64_t> counted = good + std::int64_t{1};
  const expr<bool> grows = finite && counted >= o.growth_interval;
  const expr<float> grown = select(grows, minimum(scale * 2.f, 0x1p127f), expr<float>(scale));
  const expr<float> changed = select(finite, grown, maximum(scale / 2.f, least));
  const expr<std::int64_t> left = select(finite && !grows, counted, std::int64_t{0});
  return {write_number(g, scale, op::assign::name, changed), write_number(g, good, op::assign::name, left)};
}

PINION_DECL operation finish_mixed_step(slot_table& made, graph& g, const std::vector<gradient_of_variable>& gradients,
                                        const expr<bool>& finite, const operation& updated,
                                        const mixed_precision_options& o, const minimize_options& options,
                                        source_location where) {
  const node_id beside = first_by_name(g, gradients);
  const auto skipped = shared_number(made, g, beside, "skipped_steps", std::int64_t{0});
  std::vector<operation> ends;
  if (o.initial_scale != 0 && o.growth_interval > 0) ends = change_scale(made, g, beside, finite, o);
  ends.push_back(updated);
  const colocate_with near{operation(skipped)};
  ends.push_back(write_number(g, skipped, op::assign_add::name, expr<std::int64_t>(cast<std::int64_t>(!finite))));
  minimize_options all{.name = options.name};
  if (options.count_every_step) all.global_step = options.global_step;
  return run_and_count(g, ends, "mixed_precision", all, where);
}

PINION_DECL node_id number_of_mixed_precision(const slot_table& made, graph& g, std::string_view name) {
  const node_id found = made.find(g, no_node, name);
  if (found == no_node)
    throw error(errc::not_found, "mixed_precision has no '" + std::string(name) +
                                     "' in this graph: it has applied no gradients there, or its loss is not scaled");
  return found;
}

}}}}  // namespace pinion::v0::train::detail
