// Programs as types: the type of an elementwise expression is the program that computes it.
#pragma once

#include <type_traits>

#include <pinion/dsl/operators.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/record.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// The operands of a mapped program: another node's output, of numbers or of masks, or a scalar literal.
struct number_argument {};
struct mask_argument {};
struct literal_argument {};

// The limits of a program. Programs grow inside one statement only; past a limit, an operand becomes a leaf.
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

// The size of a program, which is known of a composed one before it is composed.
struct program_extent {
  int operations = 0, leaves = 0;
  std::size_t instructions = 0, literals = 0, constants = 0;

  constexpr bool fits() const {
    return instructions <= max_instructions && literals <= decltype(static_program::literals)::room &&
           constants <= decltype(static_program::constants)::room;
  }
  friend constexpr program_extent operator+(const program_extent& a, const program_extent& b) {
    return {a.operations + b.operations, a.leaves + b.leaves, a.instructions + b.instructions, a.literals + b.literals,
            a.constants + b.constants};
  }
};

template <class O>
constexpr program_extent extent_of_operand() {
  if constexpr (is_mapped<O>)
    return O::extent;
  else if constexpr (std::is_same_v<O, literal_argument>)
    return {.instructions = 1, .literals = 1};
  else
    return {.leaves = 1, .instructions = 1};
}

// A functor's own program. Only the compiler records it: C++ leaves the order in which operands are evaluated open, so
// the functor could record another program at run time.
template <class Functor, class Arithmetic, class Result>
inline constexpr static_program own_program = scalar::record<static_program, Functor>(dtype_of<Arithmetic>,
                                                                                      dtype_of<Result>);
// The size that a functor adds to its operands, which take the place of its inputs.
template <class Functor, class Arithmetic, class Result>
inline constexpr program_extent own_extent = [] {
  constexpr const static_program& own = own_program<Functor, Arithmetic, Result>;
  return program_extent{.operations = scalar::operation_count(own),
                        .instructions = own.code.size() - own.inputs,
                        .constants = own.constants.size()};
}();

// The type of the lanes. bool is no arithmetic type of the machine, so programs of masks alone are computed in bytes.
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
  static constexpr const static_program& own() { return detail::own_program<Functor, Arithmetic, Result>; }
  static_assert(own().fits(),
                "a scalar function of more than 128 instructions, or of 48 numbers, does not fit in one node: "
                "make two functions of it, one applied to the other's result");
  static constexpr detail::program_extent extent =
      (detail::own_extent<Functor, Arithmetic, Result> + ... + detail::extent_of_operand<Operands>());
  // The composed program, needed where a kernel is made of it.
  static constexpr static_program recorded = scalar::compose(
      own(), std::array<scalar::operand<static_program>, sizeof...(Operands)>{detail::as_operand<Operands>()...});
  static constexpr static_program executable = scalar::executable(recorded);
  // The program through which an adjoint goes first where this one ends in a cast between floating dtypes.
  using cast_back = mapped<scalar::functor::identity, Result, Arithmetic, number_argument>;
};

// Tells whether a program ends in a cast between floating dtypes.
template <class P, class A = typename P::arithmetic, class R = typename P::template result<0>>
inline constexpr bool casts_floats =
    !std::is_same_v<A, R> && std::is_floating_point_v<A> && std::is_floating_point_v<R>;

// The backward program of a mapped one; its kernel computes all gradients in one pass. A backward program too large for
// this type is made when a graph is differentiated, and is interpreted.
template <class P>
struct gradient_of {
  using arithmetic = typename P::arithmetic;
  template <std::size_t>
  using result = arithmetic;
  static constexpr static_gradient executable =
      scalar::executable(scalar::derive_for_node(scalar::convert_program<static_gradient>(P::recorded)));
  // True where a kernel can be compiled: clang unfolds at most 256 instructions at once.
  static constexpr bool is_compiled = executable.fits() && executable.code.size() <= 256;
};

// Tells whether a backward program has a kernel of its own. Integers have no gradient, and that of a cast alone is the
// cast back.
template <class P>
constexpr bool has_gradient_kernel() {
  using T = typename P::arithmetic;
  if constexpr (casts_floats<P>)
    return P::recorded.code.size() > 1 && gradient_of<P>::is_compiled;
  else if constexpr (std::is_floating_point_v<T> && std::is_same_v<typename P::template result<0>, T>)
    return gradient_of<P>::is_compiled;
  else
    return false;
}

// Tells whether a consumer that computes in `Arithmetic` may absorb this program. A cast ends a program. bool and uint8
// are two types, although they are computed in the same lanes.
template <class P, class Arithmetic>
inline constexpr bool joins = false;
template <class F, class A, class R, class... O>
inline constexpr bool joins<mapped<F, A, R, O...>, A> = std::is_same_v<R, A> || std::is_same_v<R, bool>;

}}}  // namespace pinion::v0::dsl
