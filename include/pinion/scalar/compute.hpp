// The computation of each instruction over any type of values, as the rows of opcode.hpp say it. g++, clang and nvcc
// read this, which knows nothing else of pinion.
#pragma once

#include <type_traits>

#include <pinion/scalar/opcode.hpp>

// A function of numbers of a card, or of vectors; that one is PINION_VECTOR, as isa.hpp explains it.
#if defined(__CUDACC__)
#define PINION_OF_VALUES __host__ __device__ __forceinline__
#else
#define PINION_OF_VALUES inline __attribute__((always_inline, no_sanitize("undefined")))
#endif

namespace pinion { inline namespace v0 { namespace scalar { namespace detail {

// The value of an instruction other than select. V is the type of numbers, or of masks where `Op` takes masks.
template <opcode Op, class V>
PINION_OF_VALUES auto compute([[maybe_unused]] V a, [[maybe_unused]] V b) {
  constexpr bool is_refused = is_real_function(Op) && requires {
    requires std::is_integral_v<typename V::value_type>;
  };
  if constexpr (is_refused) return a;  // the shape function has no such for integers
#define PINION_VALUE(op, name, operands, value) else if constexpr (Op == opcode::op) return value;
  PINION_NUMBER_FUNCTIONS(PINION_VALUE)
  PINION_COMPARISONS(PINION_VALUE)
  PINION_LOGIC(PINION_VALUE)
#undef PINION_VALUE
}

// Computes an instruction that has operands. Numbers and masks have an array each; an id is a place in either.
template <opcode Op, class Instruction, class Number, class Mask>
PINION_OF_VALUES void compute_into(Number* number, Mask* mask, int id, Instruction in) {
  if constexpr (Op == opcode::select)
    number[id] = select(mask[in.a], number[in.b], number[in.c]);
  else if constexpr (is_logic(Op))
    mask[id] = compute<Op>(mask[in.a], mask[in.b]);
  else if constexpr (is_comparison(Op))
    mask[id] = compute<Op>(number[in.a], number[in.b]);
  else
    number[id] = compute<Op>(number[in.a], number[in.b]);
}

// The value of an instruction where masks are numbers too: 1 for true, 0 for false.
template <opcode Op, class V>
PINION_OF_VALUES V compute_in_numbers(V a, [[maybe_unused]] V b, [[maybe_unused]] V c) {
  [[maybe_unused]] const V yes = typename V::value_type(1), no = typename V::value_type(0);
  if constexpr (Op == opcode::select)
    return select(a != no, b, c);
  else if constexpr (is_logic(Op))
    return select(compute<Op>(a != no, b != no), yes, no);
  else if constexpr (is_comparison(Op))
    return select(compute<Op>(a, b), yes, no);
  else
    return compute<Op>(a, b);
}

}}}}  // namespace pinion::v0::scalar::detail
