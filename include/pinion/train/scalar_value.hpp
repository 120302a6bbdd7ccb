// A scalar parameter of training: fixed, or computed by the graph anew in each step.
#pragma once

#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/dsl/number_or_expression.hpp>

namespace pinion { inline namespace v0 { namespace train {

using pinion::number_or_expression;

// A number, or an expression of the graph with one element. A value; it refers to the graph of its expression.
//
//   tr::momentum{{.learning_rate = .01}}
//   tr::momentum{{.learning_rate = tr::exponential_decay(.1, step)}}
class scalar_value : public number_or_expression {
 public:
  // A number, which becomes part of the formula that uses it.
  template <class N>
  requires std::is_arithmetic_v<N> scalar_value(N number) : number_or_expression(number) {}
  // Throws invalid_argument unless the expression is a scalar, as far as its shape is known.
  template <dsl::graph_operand E>
  requires std::is_arithmetic_v<dsl::value_of<E>> scalar_value(const E& e,
                                                               source_location where = source_location::current())
      : scalar_value(dsl::endpoint_of(e, where)) {}
  explicit scalar_value(const any_expr& e);
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/scalar_value.ipp>
#endif
