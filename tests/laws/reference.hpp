// What every op computes, plainly: loops over doubles, with a bound on how far a kernel's rounding may lead away.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "laws/machine.hpp"

namespace laws {

// A number, and how far from it a computed one may be.
struct ranged {
  double value = 0, slack = 0;
};

// The spacing of a dtype's numbers around x; 0 for integers.
inline double spacing(dtype type, double x) {
  if (!is_floating(type) || std::isnan(x)) return 0;
  const int digits = type == dtype::float32 ? 24 : 53, lowest = type == dtype::float32 ? -125 : -1021;
  const double most = type == dtype::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  int exponent = 0;
  std::frexp(std::min(std::abs(x), most), &exponent);
  return std::ldexp(1.0, std::max(exponent, lowest) - digits);
}
inline double largest(dtype type) {
  return type == dtype::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

// ---- scalar programs ----------------------------------------------------------------------------------------------

inline double plain_op(scalar::opcode op, double a, double b, double c) {
  using enum scalar::opcode;
  switch (op) {
    case add: return a + b;
    case subtract: return a - b;
    case multiply: return a * b;
    case divide: return a / b;
    case minimum: return b < a ? b : a;
    case maximum: return a < b ? b : a;
    case power: return std::pow(a, b);
    case negate: return -a;
    case absolute: return std::fabs(a);
    case sign: return a > 0 ? 1 : a < 0 ? -1 : a;
    case exp: return std::exp(a);
    case expm1: return std::expm1(a);
    case log: return std::log(a);
    case log1p: return std::log1p(a);
    case sqrt: return std::sqrt(a);
    case rsqrt: return 1 / std::sqrt(a);
    case tanh: return std::tanh(a);
    case erf: return std::erf(a);
    case sin: return std::sin(a);
    case cos: return std::cos(a);
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
      r.slack = std::max(r.slack, std::isnan(off) && other != r.value ? std::numeric_limits<double>::infinity() : std::isnan(off) ? 0 : off);
    }
    if (f.yields_mask || in.op == scalar::opcode::select) {
      if (f.yields_mask && r.slack > 0) r.slack = 1;
      if (in.op == scalar::opcode::select) r.slack = a.slack > 0 ? std::numeric_limits<double>::infinity() : a.value != 0 ? b.slack : c.slack;
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

// ---- shapes -------------------------------------------------------------------------------------------------------

struct expectation {
  std::vector<std::vector<ranged>> outputs;  // as run() yields them
};

// The index into a tensor of shape `part` that stands at element e of `whole`, by broadcasting.
inline std::size_t broadcast_index(const shape& whole, const shape& part, std::int64_t e) {
  std::int64_t at = 0, stride = 1;
  for (int axis = whole.rank() - 1, k = part.rank() - 1; axis >= 0; --axis, --k) {
    const std::int64_t i = e % whole[axis];
    e /= whole[axis];
    if (k < 0) continue;
    at += part[k] == 1 ? 0 : i * stride;
    stride *= part[k];
  }
  return static_cast<std::size_t>(at);
}

// The element of the reduced tensor that element e of x belongs to.
inline std::size_t reduced_index(const shape& x, const attributes& attrs, std::int64_t e) {
  std::vector<bool> gone(static_cast<std::size_t>(x.rank()), !attrs.has("axes"));
  if (attrs.has("axes"))
    for (std::int64_t axis : attrs.get<integers>("axes")) gone[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  std::int64_t at = 0, stride = 1;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    const std::int64_t i = e % x[axis];
    e /= x[axis];
    if (gone[static_cast<std::size_t>(axis)]) continue;
    at += i * stride;
    stride *= x[axis];
  }
  return static_cast<std::size_t>(at);
}
inline std::int64_t reduced_count(const shape& x, const attributes& attrs) {
  std::int64_t n = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    bool gone = !attrs.has("axes");
    if (!gone)
      for (std::int64_t a : attrs.get<integers>("axes")) gone |= (a < 0 ? a + x.rank() : a) == axis;
    if (!gone) n *= x[axis];
  }
  return n;
}

// ---- ops ----------------------------------------------------------------------------------------------------------

using tensors = std::vector<std::vector<double>>;

inline std::vector<std::vector<ranged>> program_reference(const scalar::program& p, const call& c, const tensors& x, bool sums) {
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

inline std::vector<ranged> exactly(const std::vector<double>& values) {
  std::vector<ranged> all;
  for (double v : values) all.push_back({v, 0});
  return all;
}

// `times` roundings of terms whose magnitudes add up to `size`.
inline ranged rounded(dtype type, double value, double size, double times) {
  return {value, times * spacing(type, size)};
}

inline std::vector<ranged> fold_reference(const std::string& op, const call& c, const std::vector<double>& x) {
  const shape& s = c.inputs[0].shape();
  const dtype type = c.inputs[0].dtype();
  const bool floating = is_floating(type);
  const auto results = static_cast<std::size_t>(reduced_count(s, c.attrs));
  const auto lowest = visit_plain(type, [&]<class T>() { return static_cast<double>(std::numeric_limits<T>::lowest()); });
  const auto highest = visit_plain(type, [&]<class T>() { return static_cast<double>(std::numeric_limits<T>::max()); });
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double start = op == "Prod" ? 1 : op == "Max" ? (floating ? -inf : lowest) : op == "Min" ? (floating ? inf : highest) : 0;
  std::vector<double> y(results, start), size(results, 0), n(results, 0);
  for (std::int64_t e = 0; e < s.count(); ++e) {
    const std::size_t at = reduced_index(s, c.attrs, e);
    const double v = x[static_cast<std::size_t>(e)];
    size[at] += std::abs(v);
    n[at] += 1;
    if (op == "Prod") y[at] *= v;
    else if (op == "Max") y[at] = std::isnan(v) || std::isnan(y[at]) ? NAN : std::max(y[at], v);
    else if (op == "Min") y[at] = std::isnan(v) || std::isnan(y[at]) ? NAN : std::min(y[at], v);
    else y[at] += v;
  }
  std::vector<ranged> all;
  for (std::size_t i = 0; i < results; ++i) {
    if (op == "Max" || op == "Min") all.push_back({y[i], 0});
    else if (op == "Prod") all.push_back(rounded(type, y[i], y[i], n[i]));
    else if (op == "Sum") all.push_back(rounded(type, y[i], size[i], n[i]));
    else if (floating) all.push_back(rounded(type, y[i] / n[i], size[i] / n[i], n[i] + 1));
    else all.push_back({n[i] == 0 ? 0 : std::trunc(y[i] / n[i]), 0});
  }
  return all;
}

// Rows of the last axis: the largest logit, the sum of e^(x - largest).
inline void softmax_row(const double* x, std::size_t n, double& largest_logit, double& sum) {
  largest_logit = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t j = 0; j < n; ++j) largest_logit = std::isnan(x[j]) ? NAN : std::max(largest_logit, x[j]);
  for (std::size_t j = 0; j < n; ++j) sum += std::exp(x[j] - largest_logit);
}

// What run(c) yields; nothing where there is no plain form (random numbers).
inline std::optional<expectation> reference(const call& c) {
  const std::string& op = c.op;
  tensors x;
  for (const any_tensor& t : c.inputs) x.push_back(numbers(t));
  const auto states_are = [&](std::vector<std::vector<ranged>> outputs) { return expectation{std::move(outputs)}; };
  const auto size = [&](std::size_t i) { return x[i].size(); };
  if (op == "MapGrad") return expectation{program_reference(op::program_of(c.attrs), c, x, true)};
  if (map_program(op, dtype::float64)) return expectation{program_reference(op::program_of(c.attrs), c, x, false)};
  if (op == "Const") {
    const auto& value = c.attrs.get<any_tensor>("value");
    return expectation{{value.dtype() == dtype::string ? std::vector<ranged>{} : exactly(numbers(value))}};
  }
  if (op == "Identity") {
    if (!c.is_state.empty() && c.is_state[0]) return expectation{{exactly(x[0]), exactly(x[0])}};
    return expectation{{exactly(x[0])}};
  }
  if (op == "ZerosLike" || op == "OnesLike") return expectation{{std::vector<ranged>(size(0), {op == "OnesLike" ? 1.0 : 0.0, 0})}};
  if (op == "NoOp") return expectation{};
  if (op == "VariableV2") return expectation{{{}}};
  if (op == "Assign") return states_are({exactly(x[1]), exactly(x[1])});
  if (op == "AssignAdd" || op == "AssignSub") {
    std::vector<ranged> y;
    for (std::size_t i = 0; i < size(0); ++i) {
      const double v = op == "AssignAdd" ? x[0][i] + x[1][i] : x[0][i] - x[1][i];
      y.push_back({v, spacing(c.inputs[0].dtype(), v)});
    }
    return states_are({y, y});
  }
  if (op == "ApplyGradientDescent" || op == "ApplyMomentum")
    return states_are(program_reference(op::program_of(c.attrs), c, x, false));
  if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || op == "Prod") return expectation{{fold_reference(op, c, x[0])}};
  if (op == "ExpandLike") {
    const shape& s = c.inputs[1].shape();
    const dtype type = c.inputs[0].dtype();
    const double n = c.attrs.get_or("mean", false) ? static_cast<double>(s.count() / std::max<std::int64_t>(1, reduced_count(s, c.attrs))) : 1;
    std::vector<ranged> y;
    for (std::int64_t e = 0; e < s.count(); ++e) {
      const double v = x[0][reduced_index(s, c.attrs, e)] / n;
      y.push_back({is_floating(type) ? v : std::trunc(v), 2 * spacing(type, v)});
    }
    return expectation{{y}};
  }
  if (op == "ProdGrad") {
    const shape& s = c.inputs[1].shape();
    std::vector<ranged> y;
    for (std::int64_t e = 0; e < s.count(); ++e) {
      double v = x[0][reduced_index(s, c.attrs, e)];
      for (std::int64_t f = 0; f < s.count(); ++f)
        if (f != e && reduced_index(s, c.attrs, f) == reduced_index(s, c.attrs, e)) v *= x[1][static_cast<std::size_t>(f)];
      y.push_back(rounded(c.inputs[1].dtype(), v, v, static_cast<double>(s.count()) + 2));
    }
    return expectation{{y}};
  }
  if (op == "ArgMax") {
    const shape& s = c.inputs[0].shape();
    const auto axis = static_cast<int>((c.attrs.get<std::int64_t>("axis") + s.rank()) % s.rank());
    std::int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= s[i];
    for (int i = axis + 1; i < s.rank(); ++i) inner *= s[i];
    std::vector<ranged> y;
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t in = 0; in < inner; ++in) {
        const auto at = [&](std::int64_t k) { return x[0][static_cast<std::size_t>((o * s[axis] + k) * inner + in)]; };
        std::int64_t best = 0;
        for (std::int64_t k = 1; k < s[axis]; ++k)
          if (at(k) > at(best) || (std::isnan(at(k)) && !std::isnan(at(best)))) best = k;
        y.push_back({static_cast<double>(best), 0});
      }
    return expectation{{y}};
  }
  if (op == "Softmax" || op == "LogSoftmax") {
    const shape& s = c.inputs[0].shape();
    const auto n = static_cast<std::size_t>(s[s.rank() - 1]);
    const dtype type = c.inputs[0].dtype();
    std::vector<ranged> y;
    for (std::size_t r = 0; n && r < size(0) / n; ++r) {
      double top, sum;
      softmax_row(&x[0][r * n], n, top, sum);
      for (std::size_t j = 0; j < n; ++j) {
        const double d = x[0][r * n + j] - top, v = op == "Softmax" ? std::exp(d) / sum : d - std::log(sum);
        y.push_back(rounded(type, v, op == "Softmax" ? v : std::max(1.0, std::abs(v)), 16 + static_cast<double>(n)));
      }
    }
    return expectation{{y}};
  }
  if (op == "ScaleRows") {
    std::vector<ranged> y;
    for (std::size_t i = 0; i < size(0); ++i) {
      const double v = x[0][i] * x[1][i / (size(0) / size(1))];
      y.push_back({v, spacing(c.inputs[0].dtype(), v)});
    }
    return expectation{{y}};
  }
  if (op == "SoftmaxCrossEntropyWithLogits" || op == "SparseSoftmaxCrossEntropyWithLogits") {
    const bool sparse = op[1] == 'p';
    const auto rows = static_cast<std::size_t>(c.inputs[1].shape()[0]), n = static_cast<std::size_t>(c.inputs[1].shape()[1]);
    const dtype type = c.inputs[1].dtype();
    std::vector<ranged> loss, back;
    for (std::size_t r = 0; r < rows; ++r) {
      double top, sum, total = 0, scale = 0;
      softmax_row(&x[1][r * n], n, top, sum);
      for (std::size_t j = 0; j < n; ++j) {
        const double label = sparse ? (x[0][r] == static_cast<double>(j)) : x[0][r * n + j];
        const double log_p = x[1][r * n + j] - top - std::log(sum), p = std::exp(x[1][r * n + j] - top) / sum;
        if (label != 0) total -= label * log_p, scale += std::abs(label) * std::max(1.0, std::abs(log_p));
        back.push_back(rounded(type, p - label, std::max(p, std::abs(label)), 16 + static_cast<double>(n)));
      }
      loss.push_back(rounded(type, total, scale, 16 + 2 * static_cast<double>(n)));
    }
    return expectation{{loss, back}};
  }
  if (op == "InTopK") {
    const auto n = static_cast<std::size_t>(c.inputs[0].shape()[1]);
    std::vector<ranged> y;
    for (std::size_t r = 0; r < size(1); ++r) {
      const double target = x[0][r * n + static_cast<std::size_t>(x[1][r])];
      int before = 0;
      bool finite = std::isfinite(target);
      for (std::size_t j = 0; j < n; ++j) before += x[0][r * n + j] > target, finite &= std::isfinite(x[0][r * n + j]);
      y.push_back({finite && before < c.attrs.get<std::int64_t>("k") ? 1.0 : 0.0, 0});
    }
    return expectation{{y}};
  }
  if (op == "Gather") {
    const auto row = size(0) / static_cast<std::size_t>(c.inputs[0].shape()[0]);
    std::vector<ranged> y;
    for (double i : x[1])
      for (std::size_t j = 0; j < row; ++j) y.push_back({x[0][static_cast<std::size_t>(i) * row + j], 0});
    return expectation{{y}};
  }
  if (op == "ScatterDense") {
    const auto row = size(2) / static_cast<std::size_t>(c.inputs[2].shape()[0]);
    std::vector<ranged> y(size(2));
    for (std::size_t k = 0; k < size(0); ++k)
      for (std::size_t j = 0; j < row; ++j) {
        ranged& to = y[static_cast<std::size_t>(x[0][k]) * row + j];
        to.value += x[1][k * row + j];
        to.slack += static_cast<double>(size(0)) * spacing(c.inputs[1].dtype(), std::abs(x[1][k * row + j]));
      }
    return expectation{{y}};
  }
  if (op == "Reshape" || op == "ReshapeLike") return expectation{{exactly(x[0])}};
  if (op == "Transpose") {
    const shape& s = c.inputs[0].shape();
    const auto perm = op::transpose::permutation(c.attrs, s.rank());
    std::vector<ranged> y;
    for (std::int64_t e = 0; e < s.count(); ++e) {
      std::vector<std::int64_t> index(perm.size());
      std::int64_t rest = e, from = 0;
      for (std::size_t i = perm.size(); i-- > 0;) {
        const std::int64_t extent = s[static_cast<int>(perm[i])];
        index[static_cast<std::size_t>(perm[i])] = rest % extent;
        rest /= extent;
      }
      for (std::size_t i = 0; i < perm.size(); ++i) from = from * s[static_cast<int>(i)] + index[i];
      y.push_back({x[0][static_cast<std::size_t>(from)], 0});
    }
    return expectation{{y}};
  }
  if (op == "MatMul") {
    const bool ta = c.attrs.get_or("transpose_a", false), tb = c.attrs.get_or("transpose_b", false);
    const shape &a = c.inputs[0].shape(), &b = c.inputs[1].shape();
    const auto m = a[ta ? 1 : 0], k = a[ta ? 0 : 1], n = b[tb ? 0 : 1];
    std::vector<ranged> y;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const double term = x[0][static_cast<std::size_t>(ta ? l * m + i : i * k + l)] * x[1][static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
          sum += term, magnitude += std::abs(term);
        }
        y.push_back(rounded(c.inputs[0].dtype(), sum, magnitude, static_cast<double>(k) + 1));
      }
    return expectation{{y}};
  }
  return std::nullopt;
}

// ---- comparison ---------------------------------------------------------------------------------------------------

// Is a computed number one that the expectation admits? Integers are compared as their dtype holds them.
inline bool admits(const ranged& want, double got, dtype type) {
  if (type == dtype::boolean) return want.slack > 0 || (want.value != 0) == (got != 0);
  if (!is_floating(type)) {
    if (!std::isfinite(want.value)) return true;  // unspecified
    return visit_plain(type, [&]<class T>() {
      return std::abs(want.value - got) <= want.slack || static_cast<T>(static_cast<std::int64_t>(want.value)) == static_cast<T>(got);
    });
  }
  if (std::isinf(want.slack) || std::isnan(want.slack)) return true;
  if (std::isnan(want.value) || std::isnan(got)) return std::isnan(want.value) && std::isnan(got);
  if (got == want.value) return true;
  const double most = largest(type), edge = most - 2 * spacing(type, most);
  if (std::isinf(got)) return std::signbit(got) == std::signbit(want.value) && std::abs(want.value) + want.slack >= edge;
  if (std::isinf(want.value)) return false;
  if (std::abs(want.value) > most) return std::abs(got) >= edge - want.slack;
  return std::abs(got - want.value) <= want.slack + spacing(type, want.value) / 2;
}

}  // namespace laws
