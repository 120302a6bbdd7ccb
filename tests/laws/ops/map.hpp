// Elementwise ops: the row is the op's own program, run over doubles.
#pragma once

#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/record.hpp>

#include "laws/row.hpp"

namespace laws {

using program_ptr = std::shared_ptr<const scalar::program>;

template <class Op>
concept mapped_op = requires {
  typename Op::functor;
};

// The program of an elementwise op; a cast converts to `to`. Some ops stand more than once in the catalogue: Cast of
// numbers, of bools, and of bools to bools; Equal, NotEqual and Select of numbers, and of bools.
inline std::optional<scalar::program> map_program(std::string_view op, dtype arithmetic, dtype to = dtype::invalid,
                                                  int nth = 0) {
  std::optional<scalar::program> found;
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (mapped_op<Op>) {
      if (Op::name != op || found || nth-- > 0) return;
      auto p = scalar::record<scalar::program, typename Op::functor>(arithmetic, arithmetic);
      const bool mask = scalar::facts(p.code[p.results[0].value].op).yields_mask;
      p.results[0].type = mask ? dtype::boolean : to != dtype::invalid ? to : arithmetic;
      found = p;
    }
  });
  return found;
}

inline bool is_real(const scalar::program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [](const auto& i) { return scalar::is_real_function(i.op); });
}

inline sample map_sample(std::string_view op, std::string note, std::vector<input> inputs, dtype to = dtype::invalid,
                         int nth = 0) {
  return {
      std::move(note), std::move(inputs), [op, to, nth](dtype d) {
        return attributes{{"program", program_ptr(std::make_shared<scalar::program>(*map_program(op, d, to, nth)))}};
      }};
}

// MapGrad of an op: its inputs, then the gradient of its output.
inline sample gradient_sample(std::string_view op, std::string note, std::vector<input> inputs) {
  return {std::string(op) + ", " + note, std::move(inputs), [op](dtype d) {
            return attributes{
                {"program", program_ptr(std::make_shared<scalar::program>(scalar::derive(*map_program(op, d))))}};
          }};
}

inline attributes mapped(std::string_view op, dtype arithmetic = dtype::float32) {
  return {{"program", program_ptr(std::make_shared<scalar::program>(*map_program(op, arithmetic)))}};
}
inline attributes derived(std::string_view op) {
  return {
      {"program", program_ptr(std::make_shared<scalar::program>(scalar::derive(*map_program(op, dtype::float32))))}};
}

// The C library's, and what it lacks.
namespace plain_functions {
using std::cos, std::erf, std::erfc, std::exp, std::expm1, std::log, std::log1p, std::sin, std::sqrt, std::tanh;
inline double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
}  // namespace plain_functions

inline double plain_op(scalar::opcode op, double a, double b, double c) {
  using enum scalar::opcode;
  switch (op) {
    case add: return a + b;
    case subtract: return a - b;
    case multiply: return a * b;
    case divide: return a / b;
    case minimum: return std::isnan(b) || b < a ? b : a;
    case maximum: return std::isnan(b) || a < b ? b : a;
    case power: return std::pow(a, b);
    case negate: return -a;
    case absolute: return std::fabs(a);
    case sign: return a > 0 ? 1 : a < 0 ? -1 : a;
#define PINION_PLAIN(function, name, operands, value) \
  case scalar::opcode::function: return plain_functions::function(a);
      PINION_REAL_FUNCTIONS(PINION_PLAIN)
#undef PINION_PLAIN
    case floor: return std::floor(a);
    case ceil: return std::ceil(a);
    case round: return std::nearbyint(a);
    case less: return a < b;
    case less_equal: return a <= b;
    case equal: return a == b;
    case not_equal: return a != b;
    case logical_and: return a != 0 && b != 0;
    case logical_or: return a != 0 || b != 0;
    case logical_not: return a == 0;
    case select: return a != 0 ? b : c;
    default: return a;
  }
}

// One element of a program. After each op a kernel may be 4 ulp away (design, D11), and what follows makes of that what
// it makes: the bound is the worst at the corners. Integers wrap at the end.
class evaluator {
 public:
  evaluator(const scalar::program& p, const std::vector<double>& inputs) : p_(p), type_(p.arithmetic) {
    for (std::size_t i = 0; i < p.code.size(); ++i) at_.push_back(evaluate(p.code[i], inputs));
  }
  ranged result(std::size_t k) const { return at_[p_.results[k].value]; }

 private:
  ranged evaluate(const scalar::instruction& in, const std::vector<double>& inputs) const {
    using enum scalar::opcode;
    switch (in.op) {
      case input:
      case input_mask: return {inputs[in.a], 0};
      case literal: return number(p_.literals[in.a]);
      case constant: return number(p_.constants[in.a]);
      case partial: return at_[in.a];
      default: return apply(in);
    }
  }
  ranged number(const scalar::number& n) const {
    if (!is_floating(type_)) return {static_cast<double>(n.integer), 0};
    return {type_ == dtype::float32 ? static_cast<double>(static_cast<float>(n.real)) : n.real, 0};
  }
  ranged apply(const scalar::instruction& in) const {
    const auto f = scalar::facts(in.op);
    const ranged a = at_[in.a], b = f.operands > 1 ? at_[in.b] : ranged{}, c = f.operands > 2 ? at_[in.c] : ranged{};
    ranged r{plain_op(in.op, a.value, b.value, c.value), 0};
    if (!is_floating(type_)) {
      if (in.op == scalar::opcode::divide) r.value = b.value == 0 ? 0 : std::trunc(r.value);
      return r;
    }
    for (int corner = 0; corner < 8; ++corner) {
      const auto moved = [&](ranged x, int bit) { return corner & bit ? x.value + x.slack : x.value - x.slack; };
      if (a.slack == 0 && b.slack == 0 && c.slack == 0) break;
      const double other = plain_op(in.op, moved(a, 1), moved(b, 2), moved(c, 4));
      const double off = std::abs(other - r.value);
      r.slack = std::max(r.slack, std::isnan(off) && other != r.value ? std::numeric_limits<double>::infinity()
                                  : std::isnan(off)                   ? 0
                                                                      : off);
    }
    if (f.yields_mask || in.op == scalar::opcode::select) {
      if (f.yields_mask && r.slack > 0) r.slack = 1;
      if (in.op == scalar::opcode::select)
        r.slack = a.slack > 0 ? std::numeric_limits<double>::infinity() : a.value != 0 ? b.slack : c.slack;
      return r;
    }
    if (std::abs(r.value) > largest(type_)) return {std::copysign(std::numeric_limits<double>::infinity(), r.value), 0};
    r.slack += 4 * spacing(type_, r.value);
    return r;
  }

  const scalar::program& p_;
  dtype type_;
  std::vector<ranged> at_;
};

inline std::vector<std::vector<ranged>> program_reference(const scalar::program& p, const call& c, const tensors& x,
                                                          bool sums) {
  shape space{};
  for (const any_tensor& t : c.inputs) {
    shape wider;
    broadcast(space, t.shape(), wider);
    space = wider;
  }
  std::vector<std::vector<ranged>> results;
  for (std::size_t k = 0; k < p.results.size(); ++k)
    results.emplace_back(static_cast<std::size_t>(sums ? c.inputs[k].count() : space.count()));
  for (std::int64_t e = 0; e < space.count(); ++e) {
    std::vector<double> in;
    for (std::size_t i = 0; i < x.size(); ++i) in.push_back(x[i][broadcast_index(space, c.inputs[i].shape(), e)]);
    const evaluator one(p, in);
    for (std::size_t k = 0; k < p.results.size(); ++k) {
      const ranged r = one.result(k);
      ranged& to = results[k][sums ? broadcast_index(space, c.inputs[k].shape(), e) : static_cast<std::size_t>(e)];
      to.value += r.value;
      to.slack += r.slack + (sums ? static_cast<double>(space.count()) * spacing(p.arithmetic, std::abs(r.value)) : 0);
    }
  }
  return results;
}

// m x n is the size of the matrices: small to be looked at, large to be split over threads.
inline std::vector<sample> map_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  const auto p = *map_program(op, dtype::float64);
  const bool masks = p.code[0].op == scalar::opcode::input_mask && p.inputs < 3;
  double low = -2, high = 2;
  if (op == "Log" || op == "Sqrt" || op == "Rsqrt" || op == "Pow" || op == "Cast") low = 0.5, high = 4;
  if (op == "Log1p") low = -0.5;
  const input matrix{{m, n}, masks ? role::mask : role::number, low, high};
  const auto of = [&](shape s) {
    input i = matrix;
    i.extent = s;
    return i;
  };
  const auto divisor = [&](shape s) {
    input i = of(s);
    if (op == "Div") i.low = 0.5;
    return i;
  };
  std::vector<sample> all;
  const auto add = [&](std::string note, std::vector<input> inputs) {
    all.push_back(map_sample(op, std::move(note), std::move(inputs)));
  };
  if (op == "Cast") {
    all.push_back(map_sample(op, "of bools", {{{m, n}, role::mask}}, dtype::invalid, 1));
    all.push_back(map_sample(op, "of bools to bools", {{{m, n}, role::mask}}, dtype::invalid, 2));
    for (dtype to : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
      all.push_back(map_sample(op, "to " + std::string(to_string(to)), {matrix}, to));
    all.push_back(map_sample(op, "of nothing", {of({0, n})}, dtype::float32));
  } else if (p.inputs == 1) {
    add("matrix", {matrix});
    add("scalar", {of({})});
    add("nothing", {of({0})});
    add("rank 4", {of({2, 1, m, 3})});
  } else if (p.inputs == 2) {
    add("matrices", {matrix, divisor({m, n})});
    add("matrix and row", {matrix, divisor({n})});
    add("column and row", {of({m, 1}), divisor({1, n})});
    add("scalar and matrix", {of({}), divisor({m, n})});
    add("nothing", {of({0, n}), divisor({n})});
    add("rank 3 and rank 4", {of({m, 1, n}), divisor({2, 1, 3, 1})});
  } else {
    const input mask{{m, n}, role::mask};
    add("matrices", {mask, matrix, matrix});
    add("row mask, scalar", {{{n}, role::mask}, matrix, of({})});
    add("column mask, row", {{{m, 1}, role::mask}, of({n}), of({m, 1})});
    add("nothing", {{{0}, role::mask}, of({0}), of({1})});
  }
  const input bools{{m, n}, role::mask}, row_of_bools{{n}, role::mask};
  if (op == "Equal" || op == "NotEqual")
    all.push_back(map_sample(op, "bools", {bools, row_of_bools}, dtype::invalid, 1));
  if (op == "Select") all.push_back(map_sample(op, "bools", {row_of_bools, bools, bools}, dtype::invalid, 1));
  for (sample& s : all) s.smooth = op != "Floor" && op != "Ceil" && op != "Round" && op != "Sign";
  return all;
}

inline std::vector<sample> map_gradient_samples(std::int64_t m, std::int64_t n) {
  using enum role;
  const input matrix{{m, n}};
  return {gradient_sample("Mul", "matrix and row", {matrix, {{n}}, matrix}),
          gradient_sample("Mul", "column and row", {{{m, 1}}, {{n}}, matrix}),
          gradient_sample("Sub", "matrix and scalar", {matrix, {{}}, matrix}),
          gradient_sample("Div", "rank 3", {{{2, m, 1}}, {{n}, number, 0.5, 2}, {{2, m, n}}}),
          gradient_sample("Elu", "matrix", {matrix, matrix}),
          gradient_sample("Select", "row mask", {{{n}, mask}, matrix, {{m, 1}}, matrix}),
          gradient_sample("Maximum", "nothing", {{{0, n}}, {{n}}, {{0, n}}}),
          gradient_sample("Pow", "scalars", {{{}, number, 0.5, 2}, {{}}, {{}}})};
}

inline std::vector<row> map_rows() {
  const auto program_of_call = [](const call& c, const tensors& x) -> std::optional<expectation> {
    return expectation{program_reference(op::program_of(c.attrs), c, x, c.op == "MapGrad")};
  };
  std::vector<row> all{{{"MapGrad"},
                        [](auto, auto m, auto n) { return map_gradient_samples(m, n); },
                        program_of_call,
                        {{"MapGrad", {f({2, 3}), f({3}), f({2})}, derived("Mul"), "do not broadcast"},
                         {"MapGrad", {f({2}), f({2}), d({2})}, derived("Mul"), "float is wanted"}}}};
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (mapped_op<Op>)
      all.push_back({{Op::name},
                     map_samples,
                     program_of_call,
                     {{Op::name, std::vector<any_tensor>(map_program(Op::name, dtype::float32)->inputs, text({2})),
                       mapped(Op::name), "is wanted"}}});
  });
  all.push_back({{"SelectText"},
                 [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
                   const input texts{{m, n}};
                   return {{"matrices", {{{m, n}, role::mask}, texts, texts}},
                           {"row mask, scalar", {{{n}, role::mask}, texts, {{}}}},
                           {"nothing", {{{0}, role::mask}, {{0}}, {{1}}}}};
                 },
                 [](const call&, const tensors&) -> std::optional<expectation> { return expectation{{{}}}; },
                 {{"SelectText", {b({2}), text({2}), f({2})}, {}, "string is wanted"},
                  {"SelectText", {b({2}), text({3}), text({2})}, {}, "do not broadcast"}}});
  const std::vector<misfit> more{
      {"Add", {f({2, 3}), f({2})}, mapped("Add"), "do not broadcast"},
      {"Add", {f({2, 3}), d({3})}, mapped("Add"), "input 1 of Add is double, but float is wanted"},
      {"Add", {f({2})}, mapped("Add"), "Add takes 2 inputs"},
      {"Select", {f({2}), f({2}), f({2})}, mapped("Select"), "bool is wanted"},
      {"LogicalAnd", {i({2}), b({2})}, mapped("LogicalAnd"), "bool is wanted"},
      {"Exp", {text({2})}, mapped("Exp"), "float is wanted"},
  };
  for (const misfit& m : more)
    std::find_if(all.begin(), all.end(), [&](const row& r) { return r.ops[0] == m.op; })->misfits.push_back(m);
  return all;
}

}  // namespace laws
