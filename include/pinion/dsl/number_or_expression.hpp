// A number that is fixed, or that the graph computes anew in each step.
#pragma once

#include <type_traits>

#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 {

// A number, or an expression of numeric dtype. A value; it refers to the graph of its expression, which must outlive
// it. number() is meaningful only where is_number() is true, and expression() only where it is not.
class number_or_expression {
 public:
  // A number; it becomes part of the formula that uses it.
  template <class N>
  requires std::is_arithmetic_v<N> number_or_expression(N number) : number_(static_cast<double>(number)) {}
  // An expression; it is computed in each step.
  template <dsl::graph_operand E>
  requires std::is_arithmetic_v<dsl::value_of<E>> number_or_expression(
      const E& e, source_location where = source_location::current())
      : expression_(dsl::endpoint_of(e, where)) {}
  explicit number_or_expression(const any_expr& e) : expression_(e) {}

  // True for a number, false for an expression.
  bool is_number() const { return expression_.empty(); }
  // The number. Requires: is_number().
  double number() const { return number_; }
  // The expression. Requires: not is_number().
  const any_expr& expression() const { return expression_; }

 private:
  double number_ = 0;
  any_expr expression_;
};

}}  // namespace pinion::v0
