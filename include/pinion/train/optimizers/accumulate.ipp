// Bodies of <pinion/train/optimizers/accumulate.hpp>.
#pragma once

#include <string>

#include <pinion/graph/scopes.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/train/optimizers/accumulate.hpp>
#include <pinion/train/optimizers/moments.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/slot_table.hpp>
#include <pinion/train/optimizers/step_node.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL std::int64_t expect_micro_steps(std::int64_t steps) {
  if (steps < 1)
    throw error(errc::invalid_argument,
                "accumulate over " + std::to_string(steps) + " steps; an update takes the gradients of at least 1");
  return steps;
}

// The mean of a variable's gradients after this one.
inline gradient_of_variable add_gradient(slot_table& made, graph& g, const gradient_of_variable& one,
                                         std::int64_t steps) {
  const node_id mean = find_or_make_slot(made, g, one.variable, "mean", "Accumulated", 0);
  const colocate_with near(operation(g, one.variable));
  const control_dependencies after{subtract_from(g, mean, one.gradient, -1 / static_cast<double>(steps))};
  return {{value_of_variable(g, mean), {}, {}}, one.variable, g};
}

PINION_DECL accumulation add_gradients(slot_table& made, graph& g, const std::vector<gradient_of_variable>& gradients,
                                       std::int64_t steps) {
  accumulation a;
  for (const gradient_of_variable& one : gradients) a.means.push_back(add_gradient(made, g, one, steps));
  a.count = shared_number(made, g, first_by_name(g, gradients), "micro_steps", std::int64_t{0});
  const colocate_with near{operation(a.count)};
  const expr<bool>* const writes = writes_only_if::current();
  const expr<std::int64_t> counted = writes ? assign_add(a.count, expr<std::int64_t>(cast<std::int64_t>(*writes)))
                                            : assign_add(a.count, std::int64_t{1});
  a.is_last = counted >= steps;
  return a;
}

// Begins the mean of a variable's gradients again.
inline operation begin_again(graph& g, node_id mean) {
  const colocate_with near(operation(g, mean));
  const std::string name = g[mean].name + "/zero";
  const output zeros = visit_plain<dtypes::floating>(g[mean].outputs[0].dtype, [&]<class T>() {
    return dsl::make_filled(g[mean].outputs[0].shape, tensor<T>(T(0)).untyped(), g.unique_name(name + "/value"), {});
  });
  return build_write(g, {.op = op::assign::name, .base_name = name, .inputs = {{mean, 0}, zeros}});
}

PINION_DECL operation finish_accumulation(const slot_table& made, graph& g, const accumulation& a,
                                          const operation& updated, const minimize_options& options,
                                          source_location where) {
  std::vector<operation> ends;
  {
    const control_dependencies after{updated};
    const writes_only_if last(a.is_last);
    for (const gradient_of_variable& one : a.means) ends.push_back(begin_again(g, made.find(g, one.variable, "mean")));
    const colocate_with near{operation(a.count)};
    const expr<std::int64_t> none = constant(std::int64_t{0}, "micro_steps/none");
    ends.push_back(build_write(
        g,
        {.op = op::assign::name, .base_name = "micro_steps/zero", .inputs = {{a.count.id(g), 0}, none.endpoint(g)}}));
  }
  const operation all = run_and_count(g, ends, "accumulate", {.name = options.name}, where);
  if (options.global_step.empty()) return all;
  const colocate_with near(operation(options.global_step));
  const control_dependencies after{all};
  return assign_add(options.global_step, expr<std::int64_t>(cast<std::int64_t>(a.is_last)), where);
}

}}}}  // namespace pinion::v0::train::detail
