// Reverse-mode differentiation of scalar programs: the derivative of a program is a program.
//
// Source of the rules: any table of derivatives; the subgradients chosen at kinks (max, abs, relu) are TensorFlow's.
#pragma once

#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion::inline v0::scalar {

namespace detail {

// Adjoints while one program is walked backwards. C++ leaves open which operand is evaluated first, and g++ does it
// otherwise at run time than in the compiler: where two operands write instructions, one is named first.
template <class Program>
struct reverse_pass {
  using V = symbol<Program>;
  using M = symbol_mask<Program>;
  Program& p;
  std::array<value_id, 1024> adjoint{};  // 0: none yet (value 0 of a derived program is an input, never an adjoint)

  constexpr V value(value_id id) { return {&p, id}; }
  constexpr void give(value_id to, V amount) {
    adjoint[to] = adjoint[to] == 0 ? amount.id : (value(adjoint[to]) + amount).id;
  }

  constexpr void visit(value_id id) {
    const instruction in = p.code[id];
    if (adjoint[id] == 0) return;
    const V dy = value(adjoint[id]), y = value(id), a = value(in.a), b = value(in.b);
    switch (in.op) {
      case opcode::add:
        give(in.a, dy);
        give(in.b, dy);
        break;
      case opcode::subtract:
        give(in.a, dy);
        give(in.b, -dy);
        break;
      case opcode::multiply:
        give(in.a, dy * b);
        give(in.b, dy * a);
        break;
      case opcode::divide:
        give(in.a, dy / b);
        give(in.b, -(dy * y / b));
        break;
      case opcode::maximum: choose(in, a >= b, dy); break;
      case opcode::minimum: choose(in, a <= b, dy); break;
      case opcode::power: {
        const V outer = dy * b;
        give(in.a, outer * pow(a, b - 1.0));
        const M positive = a > 0.0;
        const V factor = dy * y;
        give(in.b, select(positive, factor * log(select(positive, a, 1.0)), 0.0));
        break;
      }
      case opcode::negate: give(in.a, -dy); break;
      case opcode::absolute: give(in.a, dy * sign(a)); break;
      case opcode::exp: give(in.a, dy * y); break;
      case opcode::expm1: give(in.a, dy * (y + 1.0)); break;
      case opcode::log: give(in.a, dy / a); break;
      case opcode::log1p: give(in.a, dy / (a + 1.0)); break;
      case opcode::sqrt: give(in.a, dy * 0.5 / y); break;
      case opcode::rsqrt: give(in.a, dy * -0.5 * y / a); break;
      case opcode::tanh: give(in.a, dy * (1.0 - y * y)); break;
      case opcode::erf: {
        const V scaled = dy * 1.1283791670955126;  // 2 / sqrt(pi)
        give(in.a, scaled * exp(-(a * a)));
        break;
      }
      case opcode::erfc: {
        const V scaled = dy * -1.1283791670955126;
        give(in.a, scaled * exp(-(a * a)));
        break;
      }
      case opcode::sin: give(in.a, dy * cos(a)); break;
      case opcode::cos: give(in.a, -(dy * sin(a))); break;
      case opcode::select: {
        const M m{&p, in.a};
        give(in.b, select(m, dy, 0.0));
        give(in.c, select(m, 0.0, dy));
        break;
      }
      case opcode::partial:
        give(in.b, dy * value(in.c));
        if (p.code[in.a].op == opcode::partial) give(in.a, dy);  // a chain states one derivative per operand
        break;
      default: break;  // steps, masks, leaves: nothing flows
    }
  }

  constexpr void choose(const instruction& in, M first, V dy) {
    give(in.a, select(first, dy, 0.0));
    give(in.b, select(first, 0.0, dy));
  }
};

}  // namespace detail

// Inputs: those of p, then one adjoint per result of p. Results: the adjoint of each input of p, in order; a bool
// input, or one that does not matter, gets the constant 0. Requires: a floating arithmetic type, no result that is a
// cast.
template <class Program>
constexpr Program derive(const Program& p) {
  Program d;
  d.arithmetic = p.arithmetic;
  for (const auto& n : p.literals) d.literals.push_back(n);
  for (const auto& n : p.constants) d.constants.push_back(n);
  for (const auto& i : p.code) d.code.push_back(i);
  d.inputs = p.inputs;
  detail::reverse_pass<Program> pass{d};
  const std::size_t forward = p.code.size();
  for (std::size_t r = 0; r < p.results.size(); ++r) {
    const value_id dy = d.emit_input(false);
    if (p.results[r].type == p.arithmetic) pass.give(p.results[r].value, symbol<Program>{&d, dy});
  }
  for (std::size_t i = forward; i-- > 0;) pass.visit(static_cast<value_id>(i));
  std::array<value_id, 64> of_input{};
  for (std::size_t i = 0; i < forward; ++i)
    if (d.code[i].op == opcode::input) of_input[d.code[i].a] = pass.adjoint[i];
  value_id zero = 0;
  for (value_id k = 0; k < p.inputs; ++k) {
    if (of_input[k] == 0 && zero == 0) zero = d.emit_constant(0);
    d.results.push_back({of_input[k] == 0 ? zero : of_input[k], p.arithmetic});
  }
  return without_dead_values(d);
}

}  // namespace pinion::inline v0::scalar
