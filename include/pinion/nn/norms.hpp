// Layers of norms: layer_norm and rms_norm with the variables that they make in the default graph.
//
//   auto h = pn::nn::layer_norm(x);                            // layer_normalization/gamma and /beta
//   auto y = pn::nn::rms_norm(h, {.name = "final_norm"});      // final_norm/gamma
#pragma once

#include <string_view>
#include <utility>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/batch_norm.hpp>
#include <pinion/op/norm/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of layer_norm. Without `center` there is no beta, and without `scale` no gamma.
struct layer_norm_options {
  double epsilon = 1e-5;
  bool center = true, scale = true;
  std::string_view name = "layer_normalization";
};

// Options of rms_norm.
struct rms_norm_options {
  double epsilon = 1e-5;
  std::string_view name = "rms_normalization";
};

namespace detail {
// A variable of the last axis, or its value where it is not learnt.
template <class T>
expr<T> weights_of_norm(const char* name, const shape& extent, T first, bool learnt, source_location where) {
  const expr<T> value = fill<T>(extent, first, {}, where);
  if (!learnt) return value;
  return variable(value, {.name = name}, where);
}
}  // namespace detail

// pn::layer_norm along the last axis, with the variables NAME/gamma, which begins as 1, and NAME/beta, which begins as
// 0, of its extent. Throws invalid_argument unless the operand has two axes or more and a known last extent. float,
// double. It computes the same in training and prediction.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> layer_norm(A&& operand, const layer_norm_options& o = {},
                                  source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = operand.shape();
  detail::expect_channels("layer_norm", extent, operand);
  const called_from line(where);
  const name_scope scope{o.name};
  const shape last{extent[extent.rank() - 1]};
  const expr<T> gamma = detail::weights_of_norm<T>("gamma", last, 1, o.scale, where);
  const expr<T> beta = detail::weights_of_norm<T>("beta", last, 0, o.center, where);
  return pinion::layer_norm(std::forward<A>(operand), gamma, beta, {.epsilon = o.epsilon}, where);
}

// pn::rms_norm along the last axis, with the variable NAME/gamma, which begins as 1. Throws as layer_norm does.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> rms_norm(A&& operand, const rms_norm_options& o = {},
                                source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = operand.shape();
  detail::expect_channels("rms_norm", extent, operand);
  const called_from line(where);
  const name_scope scope{o.name};
  const expr<T> gamma = detail::weights_of_norm<T>("gamma", {extent[extent.rank() - 1]}, 1, true, where);
  return pinion::rms_norm(std::forward<A>(operand), gamma, {.epsilon = o.epsilon}, where);
}

}}}  // namespace pinion::v0::nn
