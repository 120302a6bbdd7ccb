// Differentiates scalar programs: the derivative of a program is a program.
//
// The rules are those of any table of derivatives. At kinks the subgradients are TensorFlow's. Where both operands of a
// maximum or minimum are equal, the first one gets all, so that maximum(x, 0) has the derivative 1 at 0; abs has 0
// there. The adjoint of the operand of a square root or its reciprocal is 0 where that of the value is, so that a root
// of 0 or less whose value does not matter spoils nothing.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

// The rules of apply_rule() that take more than one formula.
template <class Pass, class V>
constexpr void apply_power_rule(Pass& pass, V y, V a, V b) {
  if (pass.flows(0)) {
    const V outer = pass.amount(0) * b;
    pass.give(0, outer * pow(a, b - 1.0));
  }
  if (pass.flows(1)) {
    const auto positive = a > 0.0;
    const V factor = pass.amount(1) * y;
    pass.give(1, select(positive, factor * log(select(positive, a, 1.0)), 0.0));
  }
}
template <class Pass, class V>
constexpr void apply_erf_rule(Pass& pass, V a, double slope_at_0) {
  const V scaled = pass.amount(0) * slope_at_0;
  pass.give(0, scaled * exp(-(a * a)));
}

// The adjoint of an operand a of a root. Where the slope is no number, because a is not positive, and nothing flows,
// the slope of 1 takes its place: a choice of 0 for the product instead would have 0 for its derivative by the flow
// everywhere where nothing flows.
template <class Pass, class V>
constexpr V usable_root(Pass& pass, V y, V a) {
  const auto positive = a > 0.0;
  const auto undefined = !positive;
  const auto nothing_flows = pass.amount(0) == 0.0;
  return select(nothing_flows && undefined, 1.0, y);
}
template <class Pass, class V>
constexpr void apply_sqrt_rule(Pass& pass, V y, V a) {
  const V root = usable_root(pass, y, a);
  pass.give(0, pass.amount(0) * 0.5 / root);
}
template <class Pass, class V>
constexpr void apply_rsqrt_rule(Pass& pass, V y, V a) {
  const V root = usable_root(pass, y, a);
  pass.give(0, pass.amount(0) * -0.5 * root * root * root);
}

// A stated slope of 1 or 0 chooses: what is infinite is not multiplied by 0.
template <class Pass>
constexpr void apply_stated_slope(Pass& pass, value_id slope) {
  using V = symbol<typename Pass::program_type>;
  const instruction in = pass.p.code[slope];
  const auto is = [&](value_id id, double n) {
    const instruction c = pass.p.code[id];
    return c.op == opcode::constant && pass.p.constants[c.a] == number(n);
  };
  if (in.op == opcode::select && is(in.b, 1) && is(in.c, 0))
    pass.give(1, select(symbol_mask<typename Pass::program_type>{&pass.p, in.a}, pass.amount(1), 0.0));
  else
    pass.give(1, pass.amount(1) * V{&pass.p, slope});
}

// Applies the rule of an instruction: the flow between it and its operands. In a backward pass, pass.amount(k) is the
// adjoint of the value, and pass.give(k, x) adds x to the adjoint of operand k. In a forward pass, pass.amount(k) is
// the tangent of operand k, and give adds to the value's own tangent. Derivatives are linear, so one formula serves
// both passes. pass.flows(k) tells if anything flows there.
//
// C++ leaves open which operand is evaluated first, and g++ differs between run time and compile time: where two
// operands emit instructions, one of them is named first.
template <class Pass>
constexpr void apply_rule(Pass& pass, value_id id) {
  using V = symbol<typename Pass::program_type>;
  using M = symbol_mask<typename Pass::program_type>;
  const instruction in = pass.p.code[id];
  const V y{&pass.p, id}, a{&pass.p, in.a}, b{&pass.p, in.b};
  const auto choose = [&](M first) {
    if (pass.flows(0)) pass.give(0, select(first, pass.amount(0), 0.0));
    if (pass.flows(1)) pass.give(1, select(first, 0.0, pass.amount(1)));
  };
  switch (in.op) {
    case opcode::add:
      if (pass.flows(0)) pass.give(0, pass.amount(0));
      if (pass.flows(1)) pass.give(1, pass.amount(1));
      break;
    case opcode::subtract:
      if (pass.flows(0)) pass.give(0, pass.amount(0));
      if (pass.flows(1)) pass.give(1, -pass.amount(1));
      break;
    case opcode::multiply:
      if (pass.flows(0)) pass.give(0, pass.amount(0) * b);
      if (pass.flows(1)) pass.give(1, pass.amount(1) * a);
      break;
    case opcode::divide:
      if (pass.flows(0)) pass.give(0, pass.amount(0) / b);
      if (pass.flows(1)) pass.give(1, -(pass.amount(1) * y / b));
      break;
    case opcode::maximum: choose(a >= b); break;
    case opcode::minimum: choose(a <= b); break;
    case opcode::power: apply_power_rule(pass, y, a, b); break;
    case opcode::negate: pass.give(0, -pass.amount(0)); break;
    case opcode::absolute: pass.give(0, pass.amount(0) * sign(a)); break;
    case opcode::exp: pass.give(0, pass.amount(0) * y); break;
    case opcode::expm1: pass.give(0, pass.amount(0) * (y + 1.0)); break;
    case opcode::log: pass.give(0, pass.amount(0) / a); break;
    case opcode::log1p: pass.give(0, pass.amount(0) / (a + 1.0)); break;
    case opcode::sqrt: apply_sqrt_rule(pass, y, a); break;
    case opcode::rsqrt: apply_rsqrt_rule(pass, y, a); break;
    case opcode::tanh: pass.give(0, pass.amount(0) * (1.0 - y * y)); break;
    case opcode::erf: apply_erf_rule(pass, a, 1.1283791670955126); break;  // 2 / sqrt(pi)
    case opcode::erfc: apply_erf_rule(pass, a, -1.1283791670955126); break;
    case opcode::sin: pass.give(0, pass.amount(0) * cos(a)); break;
    case opcode::cos: pass.give(0, -(pass.amount(0) * sin(a))); break;
    case opcode::select: {
      const M m{&pass.p, in.a};
      if (pass.flows(1)) pass.give(1, select(m, pass.amount(1), 0.0));
      if (pass.flows(2)) pass.give(2, select(m, 0.0, pass.amount(2)));
      break;
    }
    case opcode::partial:
      if (pass.flows(1)) apply_stated_slope(pass, in.c);
      if (pass.p.code[in.a].op == opcode::partial && pass.flows(0)) pass.give(0, pass.amount(0));
      break;         // a chain states one derivative for each operand
    default: break;  // steps, masks and leaves have derivative 0
  }
}

// The adjoints during a backward walk over one program.
template <class Program>
struct reverse_pass {
  using program_type = Program;
  using V = symbol<Program>;
  Program& p;
  decltype(table_beside<value_id>(p, 0)) adjoint;  // 0: none yet (value 0 of a program is never an adjoint)
  const std::vector<bool>* varied = nullptr;       // the values that depend on the wanted inputs; null: all do
  value_id at = 0;

  constexpr explicit reverse_pass(Program& of) : p(of), adjoint(table_beside<value_id>(of, of.code.size())) {}

  constexpr V amount(int) { return {&p, adjoint[at]}; }
  constexpr bool flows(int k) const { return !varied || (*varied)[p.code[at].operand(k)]; }
  constexpr void give(int k, V amount) { give_to(p.code[at].operand(k), amount); }
  constexpr void give_to(value_id to, V amount) {
    adjoint[to] = adjoint[to] == 0 ? amount.id : (V{&p, adjoint[to]} + amount).id;
  }

  constexpr void visit(value_id id) {
    at = id;
    if (adjoint[id] != 0 && (!varied || (*varied)[id])) apply_rule(*this, id);
  }
};

// The derivative of p by its first inputs, with all values of p before it. Its inputs are those of p, then one adjoint
// for each result of p.
template <class Program>
constexpr Program derivative(const Program& p, value_id by) {
  Program d;
  d.arithmetic = p.arithmetic;
  for (const auto& n : p.literals) d.literals.push_back(n);
  for (const auto& n : p.constants) d.constants.push_back(n);
  for (const auto& i : p.code) d.code.push_back(i);
  d.inputs = p.inputs;
  reverse_pass<Program> pass(d);
  const std::size_t forward = p.code.size();
  for (std::size_t r = 0; r < p.results.size(); ++r) {
    const value_id dy = d.emit_input(false);
    if (is_floating(p.results[r].type)) pass.give_to(p.results[r].value, symbol<Program>{&d, dy});
  }
  for (std::size_t i = forward; i-- > 0;) pass.visit(static_cast<value_id>(i));
  auto of_input = table_beside<value_id>(p, p.inputs);
  for (std::size_t i = 0; i < forward; ++i)
    if (d.code[i].op == opcode::input) of_input[d.code[i].a] = pass.adjoint[i];
  value_id zero = 0;
  for (value_id k = 0; k < by; ++k) {
    if (of_input[k] == 0 && zero == 0) zero = d.emit_constant(0);
    d.results.push_back({of_input[k] == 0 ? zero : of_input[k], p.arithmetic});
  }
  return d;
}

// A copy of p with one more input, which nothing uses yet, behind the value y.
template <class Program>
constexpr Program with_input_behind(const Program& p, value_id y) {
  Program q = p;
  q.inputs = static_cast<value_id>(p.inputs + 1);
  q.code = {};
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    instruction in = p.code[i];
    for (int k = 0; k < facts(in.op).operands; ++k)
      if (in.operand(k) > y) ++in.operand(k);
    q.code.push_back(in);
    if (i == y) q.code.push_back({opcode::input, p.inputs});
  }
  for (std::size_t r = 0; r < q.results.size(); ++r)
    if (q.results[r].value > y) ++q.results[r].value;
  return q;
}

template <class Program>
constexpr int count_real_functions(const Program& p) {
  int n = 0;
  for (const auto& in : p.code) n += is_real_function(in.op);
  return n;
}

}  // namespace detail

// The derivative of p by all its inputs. Its inputs are those of p, then one adjoint for each result of p. Its results
// are the adjoints of the inputs of p, in order; the constant 0 for a bool, and for an input that the results do not
// depend on. The adjoint of a result that is cast to another floating dtype is that of the number before the cast;
// there is none through a cast to an integer. Requires: the arithmetic type is floating-point.
template <class Program>
constexpr Program derive(const Program& p) {
  return without_dead_values(detail::derivative(p, p.inputs));
}

// The derivative of p by all its inputs where some of its results alone have an adjoint: result r if bit r of `given`
// is set. Requires: that of derive; p has at most 32 results.
template <class Program>
constexpr Program derive(const Program& p, std::uint32_t given) {
  Program some = p;
  some.results = {};
  for (std::size_t r = 0; r < p.results.size(); ++r)
    if ((given >> r & 1) != 0) some.results.push_back(p.results[r]);
  return derive(some);
}

// The program of the gradient of a node that computes p: derive(p); or, where it saves a real function such as the
// exponential of an elu, a program that takes the node's output as one more input before the adjoint instead of
// computing it again. Requires: that of derive; p has one result.
template <class Program>
constexpr Program derive_for_node(const Program& p) {
  if (!p.fits() || p.results[0].type != p.arithmetic || detail::count_real_functions(p) == 0) return derive(p);
  value_id y = p.results[0].value;
  while (p.code[y].op == opcode::partial) y = p.code[y].a;
  const value_id kept = static_cast<value_id>(y + 1);
  Program d = detail::derivative(detail::with_input_behind(p, y), p.inputs);
  if (!d.fits()) return d;
  const int before = detail::count_real_functions(without_dead_values(d));
  for (std::size_t i = std::size_t{kept} + 1; i < d.code.size(); ++i)
    for (int k = 0; k < facts(d.code[i].op).operands; ++k)
      if (d.code[i].operand(k) == y) d.code[i].operand(k) = kept;
  d = without_dead_values(d);
  return detail::count_real_functions(d) < before ? d : derive(p);
}

}}}  // namespace pinion::v0::scalar
