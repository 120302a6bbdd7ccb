// A number given to training: fixed, or computed by the graph from step to step.
#pragma once

#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/train/number_or_expression.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A number, or an expression of the graph with one element: .learning_rate = .01, or
// .learning_rate = exponential_decay(.1, step).
class scalar_value : public number_or_expression {
 public:
  template <class N>
  requires std::is_arithmetic_v<N> scalar_value(N number) : number_or_expression(number) {}
  // Throws invalid_argument unless it is a scalar, as far as is known.
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
