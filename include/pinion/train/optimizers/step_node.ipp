// Bodies of <pinion/train/optimizers/step_node.hpp>.
#pragma once

#include <memory>

#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/train/optimizers/step_node.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL output make_step(graph& g, const std::string& name, scalar::program program, std::span<const output> inputs,
                             std::span<const double> numbers) {
  const dtype type = g.type_of(inputs[0]).dtype;
  program.arithmetic = program.results[0].type = type;
  for (std::size_t i = 0; i < numbers.size(); ++i) program.literals[i] = numbers[i];
  node_request request{
      .op = op::custom_map::name, .base_name = name, .inputs = std::vector<output>(inputs.begin(), inputs.end())};
  request.attrs.set("program", op::shared_program(std::make_shared<const scalar::program>(std::move(program))));
  return {build(g, std::move(request)), 0};
}

// Calls f(expr<T>) for the dtype of x, and returns the output of its result.
template <class F>
output apply_typed(graph& g, output x, F f) {
  const auto as = [&]<class T>() { return expr<T>(f(expr<T>(g, x))).endpoint(g); };
  return g.type_of(x).dtype == dtype::float64 ? as.template operator()<double>() : as.template operator()<float>();
}

PINION_DECL output sum_of_squares(graph& g, output x) {
  return apply_typed(g, x, []<class T>(const expr<T>& e) { return reduce_sum(expr<T>(square(e))); });
}
PINION_DECL output mean_of_squares(graph& g, output x) {
  return apply_typed(g, x, []<class T>(const expr<T>& e) { return reduce_mean(expr<T>(square(e))); });
}
PINION_DECL output mean_along(graph& g, output x, std::int64_t axis, bool keep_dims) {
  return apply_typed(g, x, [=](const auto& e) { return reduce_mean(e, {.axes = {axis}, .keep_dims = keep_dims}); });
}
PINION_DECL output product(graph& g, output x, output y) {
  return apply_typed(g, x, [&]<class T>(const expr<T>& e) { return e * expr<T>(g, y); });
}
PINION_DECL output with_axis(graph& g, output x, std::int64_t axis) {
  return apply_typed(g, x, [=](const auto& e) { return expand_dims(e, axis); });
}
PINION_DECL output value_of_variable(graph& g, node_id variable) {
  return variable_of(g, variable).read({}).endpoint(g);
}

}}}}  // namespace pinion::v0::train::detail
