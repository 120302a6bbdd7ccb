// Nodes of updates that are more than a rule over the elements of one place.
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/expr.hpp>
#include <pinion/scalar/compiled.hpp>
#include <pinion/train/optimizers/steps.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// Builds one node NAME that computes a program of outputs of one floating dtype, which broadcast. Its literals are the
// numbers.
output make_step(graph& g, const std::string& name, scalar::program program, std::span<const output> inputs,
                 std::span<const double> numbers);

// Puts the kernels of a formula into this binary, if the unit is optimized and the library holds none.
template <class Formula>
void instantiate_step() {
#if !defined(PINION_COMPILED)
  if constexpr (scalar::compiles_kernels) {
    (void)scalar::compile_program<steps::compiled_step<Formula, float>>::kernel;
    (void)scalar::compile_program<steps::compiled_step<Formula, double>>::kernel;
  }
#endif
}

// Builds one node NAME that computes a formula.
template <class Formula>
output step_node(graph& g, const std::string& name, const std::array<output, Formula::inputs>& inputs,
                 const std::array<double, Formula::numbers>& numbers = {}) {
  instantiate_step<Formula>();
  return make_step(g, name, scalar::convert_program<scalar::program>(steps::compiled_step<Formula, float>::recorded),
                   inputs, numbers);
}

// The sum of the squares of all elements, and their mean, as scalars; the mean of the elements along an axis.
output sum_of_squares(graph& g, output x);
output mean_of_squares(graph& g, output x);
output mean_along(graph& g, output x, std::int64_t axis, bool keep_dims);
// The product of two outputs, element by element; they broadcast.
output product(graph& g, output x, output y);
// x with an axis of extent 1 more.
output with_axis(graph& g, output x, std::int64_t axis);
// The value of a variable: inside control_dependencies, the value behind these.
output value_of_variable(graph& g, node_id variable);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/step_node.ipp>
#endif
