// The bits of integers. graph.hpp does not bring this header.
//
//   #include <pinion/op/bits/functions.hpp>
//
//   auto even = (x & 1) == 0;
//   auto high = pn::right_shift(x, 16);               // or x >> 16
//   auto bits = pn::population_count(x);              // uint8
//
// Operands are int, std::int64_t or std::uint8_t of one dtype; others do not compile. They broadcast, and one may be a
// number. int and int64 are two's complements. Results are nodes of their own, which do not fuse, on CPUs. No gradient
// flows through them. Shapes that do not broadcast throw invalid_argument as far as they are known; the step fails with
// that code otherwise.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/bits/op.hpp>
#include <pinion/op/elementwise/as_operand.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

template <class T>
inline constexpr bool has_bits =
    std::is_same_v<T, int> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint8_t>;

// The node of an op on the bits of its operands.
template <class Op, class... A>
auto on_bits(std::string_view name, source_location where, A&&... operands) {
  using T = common_value<A...>;
  static_assert(has_bits<T>,
                "bits are those of int, std::int64_t and std::uint8_t; bools have &&, || and !, and logical_xor");
  graph& g = graph_of(operands...);
  const auto made_at = [&where](const auto& a) {
    if constexpr (graph_operand<decltype(a)>)
      if (const any_expr of = endpoint_of(a); !where.known()) where = of.owner().peek(of.id(of.owner())).where;
  };
  (made_at(operands), ...);  // a constant has no input to take a line from
  return node_call<Op, T>(name, where, {}, as_operand<T>(g, where, std::forward<A>(operands))...);
}

}  // namespace dsl

// The bits that are 1 in both operands, in one of them or both, and in one alone. TensorFlow: tf.bitwise.bitwise_and,
// bitwise_or, bitwise_xor.
#define PINION_BINARY(function)                                                                                 \
  template <class A, class B>                                                                                   \
  requires dsl::operand_pair<A, B>                                                                              \
  auto function(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) { \
    return dsl::on_bits<op::function>(name, where, std::forward<A>(x), std::forward<B>(y));                     \
  }
PINION_BINARY(bitwise_and)
PINION_BINARY(bitwise_or)
PINION_BINARY(bitwise_xor)
// x with its bits moved by y places to the left or to the right. A y below 0 counts as 0, and one that is not less than
// the number of bits of x as that number less 1; TensorFlow's kernels do that, too, while its documentation leaves
// these values open. Left of the bits come zeros, but copies of the first bit where right_shift moves an int or int64,
// so that it divides by 2^y and rounds down. TensorFlow: tf.bitwise.left_shift, right_shift.
PINION_BINARY(left_shift)
PINION_BINARY(right_shift)
#undef PINION_BINARY

// Each bit of x the other way: -x - 1 of int and int64. TensorFlow: tf.bitwise.invert, op Invert.
template <dsl::graph_operand A>
auto bitwise_not(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::on_bits<op::invert>(name, where, std::forward<A>(x));
}

// How many bits of each element are 1, uint8. TensorFlow: op PopulationCount.
template <dsl::graph_operand A>
auto population_count(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  static_assert(dsl::has_bits<dsl::value_of<A>>, "bits are counted of int, std::int64_t and std::uint8_t");
  return dsl::node_call<op::population_count, std::uint8_t>(name, where, {}, std::forward<A>(x));
}

namespace dsl {

// The operators & | ^ << >> and ~ are these functions. They bind as in C++: == comes before &.
#define PINION_OPERATOR(symbol, function)                                         \
  template <class A, class B>                                                     \
  requires operand_pair<A, B>                                                     \
  auto operator symbol(A&& x, B&& y) {                                            \
    return on_bits<op::function>({}, {}, std::forward<A>(x), std::forward<B>(y)); \
  }
PINION_OPERATOR(&, bitwise_and)
PINION_OPERATOR(|, bitwise_or)
PINION_OPERATOR(^, bitwise_xor)
PINION_OPERATOR(<<, left_shift)
PINION_OPERATOR(>>, right_shift)
#undef PINION_OPERATOR
template <graph_operand A>
auto operator~(A&& x) {
  return on_bits<op::invert>({}, {}, std::forward<A>(x));
}

}  // namespace dsl
}}  // namespace pinion::v0
