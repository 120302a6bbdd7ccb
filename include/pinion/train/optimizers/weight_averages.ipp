// Bodies of <pinion/train/optimizers/weight_averages.hpp>.
#pragma once

#include <optional>
#include <set>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/op/variable/slices.hpp>
#include <pinion/train/optimizers/moments.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>
#include <pinion/train/optimizers/rate_node.hpp>
#include <pinion/train/optimizers/slot_table.hpp>
#include <pinion/train/optimizers/step_node.hpp>
#include <pinion/train/optimizers/weight_averages.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void refuse_average(const std::string& variable) {
  throw error(errc::not_found, "weight_averages keeps no average of '" + variable +
                                   "'; apply() makes those of the variables that it is given, or of all trained ones");
}

// Makes the variable of an average. Its first value is the first value of its variable.
inline node_id make_average(graph& g, node_id variable, const std::string& name) {
  const node v = g[variable];
  if (!is_floating(v.outputs[0].dtype) || !v.outputs[0].shape.known())
    throw error(errc::invalid_argument, "variable '" + v.name + "' is a " + std::string(to_string(v.outputs[0].dtype)) +
                                            " of shape " + to_string(v.outputs[0].shape) +
                                            "; an average is of a floating-point one, of known shape")
        .at_node(v.name, v.op, to_string(v.where));
  const control_dependencies none{nullptr};
  const colocate_with near(operation(g, variable));
  const container box(v.attrs.get_or<std::string>("container", ""));
  const std::string full = g.unique_name(v.name + "/" + name);
  const auto shared = v.attrs.get_or<std::string>("shared_name", "");
  const variable_options options{.trainable = false,
                                 .shared_name = shared.empty() ? "" : shared + full.substr(v.name.size())};
  const output first{variable_of(g, variable).read_id(g), 0};
  const node_id average = dsl::make_variable(v.outputs[0].dtype, first, full, options, v.where).id(g);
  if (const variable_slice* const part = slice_of(g, variable))
    note_slice(g, average, {part->whole + full.substr(v.name.size()), part->extent, part->first});
  return average;
}

// The part of a new value that an average takes, in each step.
inline scalar_value part_of_new_value(graph& g, double decay, const variable_handle<std::int64_t>& updates) {
  if (updates.empty()) return 1 - decay;
  const colocate_with near{operation(updates)};
  return scalar_value(rate_node<rates::part_of_new>(g, "ExponentialMovingAverage/part", {decay, updates.read()}));
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL operation weight_averages::apply(const operation& after, const std::vector<operation>& variables,
                                             source_location where) const {
  const called_from line(where);
  detail::expect_part("the decay", "weight_averages", decay);
  graph& g = after.owner();
  std::vector<node_id> ids;
  for (const operation& v : variables) ids.push_back(v.id(g, "the update's"));
  if (variables.empty()) ids = g.collection("trainable_variables");
  const detail::in_graph use(g);
  const control_dependencies behind{after};
  const scalar_value part = detail::part_of_new_value(g, decay, num_updates);
  std::vector<operation> moved;
  for (const node_id v : ids) {
    if (g[v].op != op::variable::name)
      throw error(errc::invalid_argument, "weight_averages: '" + g[v].name + "' is no variable");
    const node_id average = made->find_or_make(g, v, "average", [&] { return detail::make_average(g, v, name); });
    const scalar_value here = part.is_number() ? part : scalar_value(detail::rate_of_variable(g, v, part));
    const colocate_with near(operation(g, v));
    moved.push_back(detail::average_into(g, average, {detail::value_of_variable(g, v), {}, {}}, here));
  }
  return detail::run_and_count(g, moved, name, {}, where);
}

PINION_DECL std::map<std::string, saved_as> weight_averages::variables_to_restore() const {
  graph& g = default_graph();
  const auto trainable = g.collection("trainable_variables"), all = g.collection("variables");
  const std::set<node_id> trained(trainable.begin(), trainable.end());
  std::set<node_id> averages;
  for (const node_id v : all) averages.insert(made->find(g, v, "average"));
  std::map<std::string, saved_as> names;
  std::map<std::string, std::vector<operation>> parts;
  for (const node_id v : all) {
    if (averages.contains(v)) continue;
    const std::string behind = trained.contains(v) ? "/" + name : "";
    if (const variable_slice* const part = slice_of(g, v))
      parts[part->whole + behind].push_back({g, v});
    else
      names.emplace(g[v].name + behind, operation(g, v));
  }
  for (const auto& [whole, list] : parts) names.emplace(whole, saved_as::of_parts(list));
  return names;
}

}}}  // namespace pinion::v0::train
