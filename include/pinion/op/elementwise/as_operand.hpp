// Operands of ops that are no maps: a number beside an expression is a constant of its graph.
#pragma once

#include <type_traits>
#include <utility>

#include <pinion/op/elementwise/map.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// A constant in a graph.
template <element T>
expr<T> constant_in(graph& g, const tensor<T>& value, source_location where) {
  return {g, {build(g, constant_request(value.untyped(), {}, where)), 0}};
}

// An operand as an expression of element type T. Refuses another dtype, and a fraction beside integers, at compile
// time.
template <element T, operand A>
expr<T> as_operand(graph& g, source_location where, A&& a) {
  check_operand<T, A>();
  if constexpr (graph_operand<A>)
    return std::forward<A>(a);
  else
    return constant_in<T>(g, tensor<T>(static_cast<T>(a)), where);
}

}}}  // namespace pinion::v0::dsl
