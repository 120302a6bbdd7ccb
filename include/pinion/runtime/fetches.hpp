// The arguments of run() and the type of its result: which arguments can be fetched, and which of them yield a tensor.
//
//
//   run(train)                    void: an operation yields nothing
//   run(loss)                     tensor<float>
//   run(loss, train, W)           std::tuple<tensor<float>, tensor<float>>: the values, in their order
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/runtime/step/signature.hpp>
#include <pinion/tensor/take_tuple.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
struct variable_parts;
}

namespace runtime {

// The output or node that a fetch, feed or target names in the graph `of` a session. Throws invalid_argument if the end
// was never assigned or belongs to another graph; the error names the node and the line that made it. Throws
// failed_precondition where a graph was destroyed.
output end_in(const graph_ref& of, const any_expr& end);
node_id end_in(const graph_ref& of, const operation& end);

// An argument of run(): an expression or variable, whose value is returned, or an operation, which returns nothing.
//
// Host tensors and numbers are none; an expression of text is.
template <class F>
concept fetchable = dsl::graph_operand<F> || std::is_same_v<std::remove_cvref_t<F>, operation>;

// A type-erased reference to one fetched argument. It lives during the call of run() only, as the argument itself does.
//
// It keeps run() small: all numbers and types of fetches share one function behind it.
class fetch_end {
 public:
  fetch_end(const any_expr& e) : expression_(&e) {}
  fetch_end(const any_variable& v) : variable_(&v) {}
  fetch_end(const operation& o) : operation_(&o) {}
  template <dsl::partitioned P>
  fetch_end(const P& p) : parts_(&p.untyped()) {}

  // Adds the argument to the fetches or targets of a step. The first form throws what end_in throws.
  void add_to(step_signature& s, const graph_ref& of) const;
  void add_to(std::vector<any_expr>& fetches, std::vector<operation>& targets) const;

 private:
  operation node() const;
  any_expr value() const;  // requires that it is not an operation

  const any_expr* expression_ = nullptr;
  const any_variable* variable_ = nullptr;
  const operation* operation_ = nullptr;
  const dsl::variable_parts* parts_ = nullptr;
};

// The tuple of tensors that one fetched argument contributes: one for an expression or variable, none for an operation.
//
// A partitioned variable contributes its whole value.
template <class F>
struct fetched {
  using type = std::tuple<>;
};
template <dsl::graph_operand F>
struct fetched<F> {
  using type = std::tuple<tensor<dsl::value_of<F>>>;
};
// The tuple of all values of run(F...), in order.
template <class... F>
using fetched_tuple = decltype(std::tuple_cat(std::declval<typename fetched<F>::type>()...));

// The result of run(): void without values, the tensor itself for one value, a tuple for several.
//
// A callable does not use it, and always returns a tuple.
template <class Tuple>
auto bare(Tuple&& all) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 0)
    return;
  else if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
    return std::get<0>(std::move(all));
  else
    return std::move(all);
}

// Converts the values of a step to the result of run(); operations take no value.
template <fetchable... F>
auto taken(std::vector<any_tensor> values) {
  return bare(take_tuple<fetched_tuple<F...>>(values));
}

}  // namespace runtime
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/fetches.ipp>
#endif
