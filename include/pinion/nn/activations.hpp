// Activations as objects, for layers.
//
//   relu       max(x, 0)                      elu        x, or e^x - 1 below 0
//   sigmoid    1 / (1 + e^-x)                 softplus   ln(1 + e^x)
//   tanh       (e^x - e^-x) / (e^x + e^-x)    softmax    e^x over the sum along the last axis
//   gelu, gelu_by_tanh, silu, mish, selu, relu6, hard_sigmoid, hard_swish: see op/elementwise/activations.hpp
#pragma once

#include <utility>

#include <pinion/op/elementwise/activations.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/nn/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// A layer takes any of these, any function of an expression, or nullptr for no activation. Softmax and log_softmax work
// along the last axis, the others element by element. A function of one's own may be a lambda:
//
//   auto h = pn::nn::dense(x, 160, [](const pn::expr<float>& y) { return pn::maximum(y, y * .2f); });
using pinion::elu;
using pinion::gelu;
using pinion::gelu_by_tanh;
using pinion::hard_sigmoid;
using pinion::hard_swish;
using pinion::log_softmax;
using pinion::mish;
using pinion::relu;
using pinion::relu6;
using pinion::selu;
using pinion::sigmoid;
using pinion::silu;
using pinion::softmax;
using pinion::softplus;
// The hyperbolic tangent as an object; see op/elementwise/functions.hpp for the reason why pinion::tanh is a function.
// A program without `using namespace pinion` may write pn::tanh as an argument too.
struct tanh_object {
  template <dsl::graph_operand A>
  auto operator()(A&& x, std::string_view name = {}, source_location where = source_location::current()) const {
    return pinion::tanh(std::forward<A>(x), name, where);
  }
};
inline constexpr tanh_object tanh{};

// Makes an activation of a function of pinion that is given by its name. Layers call it when they are given pn::tanh,
// pn::exp or another function of one operand.
template <element T>
auto by_name(dsl::function_by_name<T> function) {
  return [function](const expr<T>& y) { return function({y}); };
}

// Applies the activation to y; with nullptr it yields y. The activation keeps the dtype; a temporary y is fused with
// it. For layers of one's own:
//
//   return pn::nn::activated(pn::matmul(x, kernel) + bias, activation);
template <dsl::graph_operand Y, class Activation>
expr<dsl::value_of<Y>> activated(Y&& y, Activation activation) {
  if constexpr (std::is_null_pointer_v<Activation>)
    return std::forward<Y>(y);
  else
    return activation(std::forward<Y>(y));
}

}}}  // namespace pinion::v0::nn
