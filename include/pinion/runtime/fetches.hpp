// What a step is asked for, and how its values come back.
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

// Throw invalid_argument where an end was never assigned, or is of another graph; the sentence names it and its line.
void check_owner(const any_expr& end, const graph* of);
void check_owner(const any_variable& end, const graph* of);
void check_owner(const operation& end, const graph* of);

// What run() takes to fetch: an expression or variable, whose value comes back, or an operation, which yields nothing.
template <class F>
concept fetchable = dsl::graph_operand<F> || std::is_same_v<std::remove_cvref_t<F>, operation>;

// One of these, by reference, until the step is asked for.
class fetch_end {
 public:
  fetch_end(const any_expr& e) : expression_(&e) {}
  fetch_end(const any_variable& v) : variable_(&v) {}
  fetch_end(const operation& o) : operation_(&o) {}
  template <dsl::partitioned P>
  fetch_end(const P& p) : parts_(&p.untyped()) {}

  // Adds it to what a step of that graph is asked for. Throws invalid_argument for one of another graph, or of none.
  void add_to(step_signature& s, const graph* of) const;
  void add_to(std::vector<any_expr>& fetches, std::vector<operation>& targets) const;

 private:
  void check_owner(const graph* of) const;
  any_expr value() const;  // of what is no operation

  const any_expr* expression_ = nullptr;
  const any_variable* variable_ = nullptr;
  const operation* operation_ = nullptr;
  const dsl::variable_parts* parts_ = nullptr;
};

template <class F>
struct fetched {
  using type = std::tuple<>;
};
template <dsl::graph_operand F>
struct fetched<F> {
  using type = std::tuple<tensor<dsl::value_of<F>>>;
};
template <class... F>
using fetched_tuple = decltype(std::tuple_cat(std::declval<typename fetched<F>::type>()...));

// operations yield nothing; one fetch comes bare, several as a tuple
template <class Tuple>
auto bare(Tuple&& all) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 0)
    return;
  else if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
    return std::get<0>(std::move(all));
  else
    return std::move(all);
}

// The values of some fetches, as run() yields them.
template <fetchable... F>
auto taken(std::vector<any_tensor> values) {
  return bare(take_tuple<fetched_tuple<F...>>(values));
}

}  // namespace runtime
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/fetches.ipp>
#endif
