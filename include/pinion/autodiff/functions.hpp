// Gradients of expressions by expressions and variables: auto [gW, gb] = pn::gradients(loss, W, b);
//
// Compilers refuse y and x that are not float or double: "gradients are taken of and by floating-point expressions".
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/base/error.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
// The output by which a gradient is taken: the state of a variable, so that all its reads count, or the value of an
// expression. In a body it is the argument that stands for x there, so a gradient may be taken by a value from around
// the body.
template <graph_operand X>
output differentiable_end(const X& x) {
  static_assert(!partitioned<X>, "gradients are taken by each of the parts() of a partitioned variable");
  graph& g = *graph_in_use(x.owner());
  if (&g != &x.owner()) return endpoint_of(x).endpoint(g);  // in a body: the argument
  if constexpr (variable_like<X>)
    return x.reference(g);
  else
    return x.endpoint(g);
}
}  // namespace dsl

// The gradients of y, summed over its elements, by each x: auto [gW, gb] = gradients(loss, W, b). All are float or
// double expressions; each gradient has the shape of its x and is dense. Throws invalid_argument where y does not
// depend on an x, and unimplemented where an op on the path has no gradient. The nodes are added under the name scope
// "gradients", each with the device request of its forward node. A y with several elements counts as their sum; weigh
// it first for another combination, as in gradients(reduce_sum(y * weights), x). An x that was used several times gets
// the sum over all its uses, and a variable over all its reads.
//
// The result is an expression like others, so gradients of gradients work for every op that has a gradient of its
// gradient. Conditions, comparisons, integers and random draws end a path: an x that is reached only through them is
// one that y does not depend on. Sparse gradients, as those of gather, become dense here; an optimizer takes them as
// they are. TensorFlow: tf.gradients, which gives None where this throws.
//
//   auto [gx] = pn::gradients(x * x, x);
//   auto [second] = pn::gradients(gx, x);                 // 2
//   auto [gW, gb] = pn::gradients(loss, W, b);            // their shapes are those of W and b
template <dsl::graph_operand Y, dsl::graph_operand... X>
std::tuple<expr<dsl::value_of<X>>...> gradients(const Y& y, const X&... xs) {
  static_assert(std::is_floating_point_v<dsl::value_of<Y>> && (std::is_floating_point_v<dsl::value_of<X>> && ...),
                "gradients are taken of and by floating-point expressions");
  graph& g = dsl::graph_of(y, xs...);
  const std::vector<output> ends{dsl::differentiable_end(xs)...};
  const auto found = autodiff::differentiate(g, {dsl::endpoint_of(y).endpoint(g)}, ends);
  std::size_t i = 0;
  const auto take = [&](const auto& x) {
    const auto& gradient = found[i++];
    if (!gradient)
      throw error(errc::invalid_argument,
                  "'" + g[dsl::differentiable_end(y).node].name + "' does not depend on '" + x.name() + "'")
          .at_node(x.name(), x.op(), to_string(operation(x).node().where));
    return autodiff::to_dense(g, *gradient, dsl::endpoint_of(x).endpoint(g));
  };
  return std::tuple<expr<dsl::value_of<X>>...>{expr<dsl::value_of<X>>(g, take(xs))...};
}

}}  // namespace pinion::v0
