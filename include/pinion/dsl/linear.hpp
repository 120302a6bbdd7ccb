// Matrix products and reductions.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/op/reduce/op.hpp>

namespace pinion::inline v0 {

struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string_view name = {};
};

// [m, k] x [k, n] -> [m, n], operands transposed first where asked. float, double, int32, int64.
template <dsl::graph_operand A, dsl::graph_operand B>
auto matmul(A&& a, B&& b, const matmul_options& options = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<B>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::matmul, T>(options.name, where,
                                       {{"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}},
                                       std::forward<A>(a), std::forward<B>(b));
}

// Axes of a reduction: {0}, {0, -1}; left out: all of them.
struct axis_list {
  bool all = true;
  integers axes = {};

  axis_list() = default;
  axis_list(std::initializer_list<std::int64_t> some) : all(false), axes(some) {}
};

struct reduce_options {
  axis_list axes = {};
  bool keep_dims = false;  // reduced axes stay, with extent 1
  std::string_view name = {};
};

namespace dsl {
template <class Op, element T, class A>
auto reduce(A&& x, const reduce_options& options, source_location where) {
  attributes attrs{{"keep_dims", options.keep_dims}};
  if (!options.axes.all) attrs.set("axes", options.axes.axes);
  return node_call<Op, T>(options.name, where, std::move(attrs), std::forward<A>(x));
}
}  // namespace dsl

// Over some axes or all; numbers of any dtype. Over no elements: 0, NaN, the lowest value, the highest value, 1.
#define PINION_REDUCTION(function)                                                                               \
  template <dsl::graph_operand A>                                                                                \
  auto function(A&& x, const reduce_options& options = {}, source_location where = source_location::current()) { \
    static_assert(!std::is_same_v<dsl::value_of<A>, bool>, "pn::cast<float>(x) makes numbers of bools");         \
    return dsl::reduce<op::function, dsl::value_of<A>>(std::forward<A>(x), options, where);                      \
  }
PINION_REDUCTION(reduce_sum)
PINION_REDUCTION(reduce_mean)
PINION_REDUCTION(reduce_max)
PINION_REDUCTION(reduce_min)
PINION_REDUCTION(reduce_prod)
#undef PINION_REDUCTION

// Whether all bools hold, or any, over some axes or all of them. Over no elements: true, false.
#define PINION_REDUCTION(function)                                                                                  \
  template <dsl::graph_operand A>                                                                                   \
  auto function(A&& x, const reduce_options& options = {}, source_location where = source_location::current()) {    \
    static_assert(std::is_same_v<dsl::value_of<A>, bool>, "this is a reduction of bools; a comparison makes them"); \
    return dsl::reduce<op::function, bool>(std::forward<A>(x), options, where);                                     \
  }
PINION_REDUCTION(reduce_all)
PINION_REDUCTION(reduce_any)
#undef PINION_REDUCTION

// The index, int64, of the greatest element along an axis; the first of equal ones.
template <dsl::graph_operand A>
auto argmax(A&& x, std::int64_t axis = 0, std::string_view name = {},
            source_location where = source_location::current()) {
  return dsl::node_call<op::argmax, std::int64_t>(name, where, {{"axis", axis}}, std::forward<A>(x));
}

}  // namespace pinion::inline v0
