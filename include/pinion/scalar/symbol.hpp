// Symbolic values: a scalar functor that is run on them emits its program.
#pragma once

#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// A mask of a program that is being recorded. It refers to the program, during one recording.
template <class Program>
struct symbol_mask {
  Program* p = nullptr;
  value_id id = 0;
};

// A number of a program that is being recorded. It refers to the program, during one recording. The operators and
// functions append an instruction each.
template <class Program>
struct symbol {
  Program* p = nullptr;
  value_id id = 0;

 private:
  using mask = symbol_mask<Program>;
  static constexpr symbol one(opcode op, symbol x) { return {x.p, x.p->emit(op, x.id)}; }
  static constexpr symbol two(opcode op, symbol x, symbol y) { return {x.p, x.p->emit(op, x.id, y.id)}; }
  static constexpr mask compare(opcode op, symbol x, symbol y) { return {x.p, x.p->emit(op, x.id, y.id)}; }
  constexpr symbol number_beside(number n) const { return {p, p->emit_constant(n)}; }

 public:
#define PINION_SYMBOL_BINARY(name, op)               \
  friend constexpr symbol name(symbol x, symbol y) { \
    return two(opcode::op, x, y);                    \
  }                                                  \
  friend constexpr symbol name(symbol x, double y) { \
    return two(opcode::op, x, x.number_beside(y));   \
  }                                                  \
  friend constexpr symbol name(double x, symbol y) { \
    return two(opcode::op, y.number_beside(x), y);   \
  }
  PINION_SYMBOL_BINARY(operator+, add)
  PINION_SYMBOL_BINARY(operator-, subtract)
  PINION_SYMBOL_BINARY(operator*, multiply)
  PINION_SYMBOL_BINARY(operator/, divide)
  PINION_SYMBOL_BINARY(min, minimum)
  PINION_SYMBOL_BINARY(max, maximum)
  PINION_SYMBOL_BINARY(pow, power)
#undef PINION_SYMBOL_BINARY
#define PINION_SYMBOL_UNARY(name, op)      \
  friend constexpr symbol name(symbol x) { \
    return one(opcode::op, x);             \
  }
  PINION_SYMBOL_UNARY(operator-, negate)
  PINION_SYMBOL_UNARY(abs, absolute)
  PINION_SYMBOL_UNARY(sign, sign)
#define PINION_SYMBOL_FUNCTION(op, name, operands, value) PINION_SYMBOL_UNARY(op, op)
  PINION_REAL_FUNCTIONS(PINION_SYMBOL_FUNCTION)
#undef PINION_SYMBOL_FUNCTION
  PINION_SYMBOL_UNARY(floor, floor)
  PINION_SYMBOL_UNARY(ceil, ceil)
  PINION_SYMBOL_UNARY(round, round)
#undef PINION_SYMBOL_UNARY
#define PINION_SYMBOL_COMPARE(name, op, left, right) \
  friend constexpr mask name(symbol x, symbol y) {   \
    return compare(opcode::op, left, right);         \
  }                                                  \
  friend constexpr mask name(symbol x, double n) {   \
    auto y = x.number_beside(n);                     \
    return compare(opcode::op, left, right);         \
  }                                                  \
  friend constexpr mask name(double n, symbol y) {   \
    auto x = y.number_beside(n);                     \
    return compare(opcode::op, left, right);         \
  }
  PINION_SYMBOL_COMPARE(operator<, less, x, y)
  PINION_SYMBOL_COMPARE(operator<=, less_equal, x, y)
  PINION_SYMBOL_COMPARE(operator>, less, y, x)
  PINION_SYMBOL_COMPARE(operator>=, less_equal, y, x)
  PINION_SYMBOL_COMPARE(operator==, equal, x, y)
  PINION_SYMBOL_COMPARE(operator!=, not_equal, x, y)
#undef PINION_SYMBOL_COMPARE
  friend constexpr symbol select(mask m, symbol x, symbol y) {
    return {x.p, x.p->emit(opcode::select, m.id, x.id, y.id)};
  }
  friend constexpr symbol select(mask m, symbol x, double y) {
    return select(m, x, x.number_beside(y));
  }
  friend constexpr symbol select(mask m, double x, symbol y) {
    return select(m, y.number_beside(x), y);
  }
  // The value y with a stated derivative by x.
  friend constexpr symbol with_derivative(symbol y, symbol x, symbol dy_dx) {
    return {y.p, y.p->emit(opcode::partial, y.id, x.id, dy_dx.id)};
  }
};

template <class Program>
constexpr symbol<Program> select(symbol_mask<Program> m, double x, double y) {
  const value_id a = m.p->emit_constant(x), b = m.p->emit_constant(y);
  return {m.p, m.p->emit(opcode::select, m.id, a, b)};
}
template <class Program>
constexpr symbol_mask<Program> operator&&(symbol_mask<Program> x, symbol_mask<Program> y) {
  return {x.p, x.p->emit(opcode::logical_and, x.id, y.id)};
}
template <class Program>
constexpr symbol_mask<Program> operator||(symbol_mask<Program> x, symbol_mask<Program> y) {
  return {x.p, x.p->emit(opcode::logical_or, x.id, y.id)};
}
template <class Program>
constexpr symbol_mask<Program> operator!(symbol_mask<Program> x) {
  return {x.p, x.p->emit(opcode::logical_not, x.id)};
}

}}}  // namespace pinion::v0::scalar
