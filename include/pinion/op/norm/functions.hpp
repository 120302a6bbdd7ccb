// Layer normalisation, and that by the root of the mean square.
//
//   auto y = pn::layer_norm(x, gamma, beta);              // [..., n], [n], [n] -> [..., n]
//   auto z = pn::rms_norm(x, gamma, {.epsilon = 1e-6});   // [..., n], [n] -> [..., n]
//
// float or double; other operands throw invalid_argument. pn::nn::layer_norm makes the variables, too.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/norm/op.hpp>

namespace pinion { inline namespace v0 {

// Options of layer_norm and rms_norm. Epsilon is added to the variance, or to the mean square, under the root.
struct row_norm_options {
  double epsilon = 1e-5;
  std::string_view name = {};
};

// Each row minus its mean, divided by sqrt(variance + epsilon), times gamma, plus beta (Ba, Kiros and Hinton 2016). The
// variance is that of the population. A row is made of the last axes of x, as many as gamma has: for gamma [n] it is
// the last one. The result has the shape of x. Throws invalid_argument unless gamma and beta have the extents of these
// axes, as far as shapes are known; the step fails otherwise. Differentiable by all three, in every order; the first
// gradient is one node.
// A row with NaN or an infinity is NaN; the others are as they would be. CPUs only.
template <dsl::graph_operand A, dsl::graph_operand G, dsl::graph_operand B>
auto layer_norm(A&& x, G&& gamma, B&& beta, const row_norm_options& options = {},
                source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<G>> && dsl::same_dtype<T, dsl::value_of<B>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::layer_norm, T>(options.name, where, {{"epsilon", options.epsilon}}, std::forward<A>(x),
                                           std::forward<G>(gamma), std::forward<B>(beta));
}

// Each row divided by sqrt(mean of its squares + epsilon), times gamma (Zhang and Sennrich 2019). Rows, shapes, errors
// and gradients are those of layer_norm. The other numbers of a row with an infinity are 0.
template <dsl::graph_operand A, dsl::graph_operand G>
auto rms_norm(A&& x, G&& gamma, const row_norm_options& options = {},
              source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<G>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::rms_norm, T>(options.name, where, {{"epsilon", options.epsilon}}, std::forward<A>(x),
                                         std::forward<G>(gamma));
}

}}  // namespace pinion::v0
