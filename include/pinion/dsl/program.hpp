// Programs as types: the type of an elementwise expression is the program that computes it.
#pragma once

#include <type_traits>

#include <pinion/dsl/operators.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/record.hpp>

namespace pinion::inline v0::dsl {

// The program of an expression that is a leaf to whoever uses it.
struct leaf {};
// A leaf of which it is still known what op made it.
template <class Op>
struct made_by {};

// What stands at an operand of a mapped program: another node's output, or a scalar literal.
struct number_argument {};
struct mask_argument {};
struct literal_argument {};

// Programs grow only inside one statement; past this, an operand becomes a leaf.
inline constexpr int max_operations = 32, max_leaves = 12;
inline constexpr std::size_t max_instructions = 128;
using static_program = scalar::fixed_program<max_instructions>;
using static_gradient = scalar::fixed_program<4 * max_instructions>;

template <class Functor, element Arithmetic, element Result, class... Operands>
struct mapped;

template <class P>
inline constexpr bool is_mapped = false;
template <class F, class A, class R, class... O>
inline constexpr bool is_mapped<mapped<F, A, R, O...>> = true;

namespace detail {

// bool is not an arithmetic type of the machine: programs of nothing but masks are computed in bytes.
template <class T>
using lane_type = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class O>
constexpr scalar::operand<static_program> as_operand() {
  using operand = scalar::operand<static_program>;
  if constexpr (std::is_same_v<O, number_argument>)
    return {operand::leaf, {}, nullptr};
  else if constexpr (std::is_same_v<O, mask_argument>)
    return {operand::leaf_mask, {}, nullptr};
  else if constexpr (std::is_same_v<O, literal_argument>)
    return {operand::number_literal, {}, nullptr};
  else
    return {operand::absorbed, {}, &O::recorded};
}

}  // namespace detail

template <class Functor, element Arithmetic, element Result, class... Operands>
struct mapped {
  using arithmetic = detail::lane_type<Arithmetic>;
  template <std::size_t>
  using result = Result;
  // Of this functor alone. Recorded by the compiler and only there: C++ leaves the order of operands open, and a
  // functor run again at run time might write its program down in another one.
  static constexpr static_program own = scalar::record<static_program, Functor>(dtype_of<Arithmetic>, dtype_of<Result>);
  static_assert(own.fits(),
                "a scalar function of more than 128 instructions, or of 48 numbers, does not fit in one node: "
                "make two functions of it, one applied to the other's result");
  static constexpr static_program recorded = scalar::compose(
      own, std::array<scalar::operand<static_program>, sizeof...(Operands)>{detail::as_operand<Operands>()...});
  static constexpr static_program executable = scalar::executable(recorded);
  static constexpr int operations = scalar::operation_count(recorded);
  static constexpr int leaves = recorded.inputs;
};

// The backward program of a mapped one; its kernel writes all gradients in one pass. One that does not fit here is made
// when a graph is differentiated, and interpreted.
template <class P>
struct gradient_of {
  using arithmetic = typename P::arithmetic;
  template <std::size_t>
  using result = arithmetic;
  static constexpr static_gradient executable =
      scalar::executable(scalar::derive(scalar::convert_program<static_gradient>(P::recorded)));
  // clang unfolds no more than 256 instructions at once.
  static constexpr bool is_compiled = executable.fits() && executable.code.size() <= 256;
};

// Is there a backward program, with a kernel of its own? Nothing flows through integers, nor through a cast here.
template <class P>
constexpr bool has_gradient_kernel() {
  if constexpr (is_floating(P::recorded.arithmetic) && P::recorded.results[0].type == P::recorded.arithmetic)
    return gradient_of<P>::is_compiled;
  else
    return false;
}

// Could this program be absorbed by a consumer that computes in `Arithmetic`? A cast ends a program. Bools and uint8
// are computed in the same lanes, and are two types all the same.
template <class P, class Arithmetic>
constexpr bool joins() {
  if constexpr (!is_mapped<P>) {
    return false;
  } else {
    constexpr auto to = P::recorded.results[0].type;
    return P::recorded.arithmetic == dtype_of<Arithmetic> && (to == P::recorded.arithmetic || to == dtype::boolean);
  }
}

}  // namespace pinion::inline v0::dsl
