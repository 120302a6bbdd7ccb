// The operations of scalar programs. Nothing here knows the rest of pinion, so that device code may include it.
#pragma once

#include <cstdint>

namespace pinion { inline namespace v0 { namespace scalar {

// The functions of one real number, which integers do not have. A new one is named here, and then needs its computation
// (maths.hpp) and its derivative (derive.hpp).
#define PINION_REAL_FUNCTIONS(X) X(exp) X(expm1) X(log) X(log1p) X(sqrt) X(rsqrt) X(tanh) X(erf) X(erfc) X(sin) X(cos)

// The operation of an instruction.
enum class opcode : std::uint8_t {
  input,
  input_mask,
  literal,
  constant,  // a: the number of the constant
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  power,
  negate,
  absolute,
  sign,
#define PINION_OPCODE(function) function,
  PINION_REAL_FUNCTIONS(PINION_OPCODE)
#undef PINION_OPCODE
      floor,
  ceil,
  round,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_not,
  select,  // a: the mask, b: the value for true, c: the value for false
  // The value a with the derivative c by b, which replaces the one that would follow from the computation of a.
  partial,
};

}}}  // namespace pinion::v0::scalar
