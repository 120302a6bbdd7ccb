// The operations of scalar programs. Nothing here knows the rest of pinion, so that device code may include it.
#pragma once

#include <cstdint>

namespace pinion { inline namespace v0 { namespace scalar {

// The instructions that compute, one in each row: its opcode, its name in texts, how many operands it has, and its
// value by the operands a, b and c, which is said here alone. It is C++ over any type of values, such as vectors of a
// processor (simd.hpp) and numbers of a card (lane.hpp), and the text that NVRTC compiles (cuda_text.hpp). A new
// function needs a row, its computation on vectors (maths.hpp) and its derivative (derive.hpp).

// clang-format off

// Functions of a real number, which integers do not have.
#define PINION_REAL_FUNCTIONS(X) \
  X(exp, "exp", 1, exp(a))       \
  X(expm1, "expm1", 1, expm1(a)) \
  X(log, "log", 1, log(a))       \
  X(log1p, "log1p", 1, log1p(a)) \
  X(sqrt, "sqrt", 1, sqrt(a))    \
  X(rsqrt, "rsqrt", 1, rsqrt(a)) \
  X(tanh, "tanh", 1, tanh(a))    \
  X(erf, "erf", 1, erf(a))       \
  X(erfc, "erfc", 1, erfc(a))    \
  X(sin, "sin", 1, sin(a))       \
  X(cos, "cos", 1, cos(a))

// Numbers of numbers.
#define PINION_NUMBER_FUNCTIONS(X) \
  X(add, "add", 2, a + b)          \
  X(subtract, "sub", 2, a - b)     \
  X(multiply, "mul", 2, a * b)     \
  X(divide, "div", 2, a / b)       \
  X(minimum, "min", 2, min(a, b))  \
  X(maximum, "max", 2, max(a, b))  \
  X(power, "pow", 2, pow(a, b))    \
  X(negate, "neg", 1, -a)          \
  X(absolute, "abs", 1, abs(a))    \
  X(sign, "sign", 1, sign(a))      \
  PINION_REAL_FUNCTIONS(X)         \
  X(floor, "floor", 1, floor(a))   \
  X(ceil, "ceil", 1, ceil(a))      \
  X(round, "round", 1, round(a))

// Masks of numbers.
#define PINION_COMPARISONS(X)    \
  X(less, "lt", 2, a < b)        \
  X(less_equal, "le", 2, a <= b) \
  X(equal, "eq", 2, a == b)      \
  X(not_equal, "ne", 2, a != b)

// Masks of masks.
#define PINION_LOGIC(X)            \
  X(logical_and, "and", 2, a && b) \
  X(logical_or, "or", 2, a || b)   \
  X(logical_not, "not", 1, !a)

// A number by a mask: b where it is true, c where it is false.
#define PINION_SELECTION(X) X(select, "select", 3, select(a, b, c))

#define PINION_COMPUTATIONS(X) PINION_NUMBER_FUNCTIONS(X) PINION_COMPARISONS(X) PINION_LOGIC(X) PINION_SELECTION(X)

// clang-format on

// The operation of an instruction.
enum class opcode : std::uint8_t {
  input,
  input_mask,
  literal,
  constant,  // a: the number of the constant
#define PINION_OPCODE(op, name, operands, value) op,
  PINION_COMPUTATIONS(PINION_OPCODE)
#undef PINION_OPCODE
  // The value a with the derivative c by b, which replaces the one that would follow from the computation of a.
  partial,
};

// True for a function of real numbers: these rows stand between sign and floor.
constexpr bool is_real_function(opcode op) {
  return op == opcode::power || (op > opcode::sign && op < opcode::floor);
}
// True for an instruction that compares numbers, and for one that combines masks.
constexpr bool is_comparison(opcode op) {
  return op >= opcode::less && op <= opcode::not_equal;
}
constexpr bool is_logic(opcode op) {
  return op >= opcode::logical_and && op <= opcode::logical_not;
}

}}}  // namespace pinion::v0::scalar
