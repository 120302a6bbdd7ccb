// Variables: what names them, what writes them.
#pragma once

#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>

#include "laws/ops/map.hpp"

namespace laws {

// The program of a rule, at a rate that is one of its literals or an input; numbers of which no sum is 0 under a root.
template <class Rule, op::rate_is Rate>
attributes rule_attributes(dtype d) {
  std::array<double, Rule::numbers> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25 + 0.0625 * static_cast<double>(i);
  return {{"program", program_ptr(std::make_shared<scalar::program>(op::rule_program<Rule, Rate>(d, numbers)))},
          {"states", std::int64_t{Rule::states}}};
}
inline attributes update_attributes(dtype d, int states) {
  return states == 1 ? rule_attributes<rules::gradient_descent, op::rate_is::literal>(d)
                     : rule_attributes<rules::momentum, op::rate_is::literal>(d);
}

// A program that yields something else than its states hold.
inline attributes widened(attributes a) {
  auto p = std::make_shared<scalar::program>(op::program_of(a));
  p->results[0].type = dtype::float64;
  a.set("program", program_ptr(std::move(p)));
  return a;
}

// Slots hold what the rules' roots are taken of: numbers from `low` on.
template <class Rule>
std::vector<sample> update_samples(std::int64_t m, std::int64_t n, double low = -2) {
  const auto of = [=]<op::rate_is Rate>(std::string note, shape extent) {
    sample s{std::move(note), {{extent, role::state}}, rule_attributes<Rule, Rate>};
    for (int i = 1; i < Rule::states; ++i) s.inputs.push_back({extent, role::state, low, low + 4});
    s.inputs.push_back({extent});
    if (Rate == op::rate_is::input) s.inputs.insert(s.inputs.end(), op::rates_of<Rule>(), {{}, role::number, 0, 1});
    return s;
  };
  std::vector<sample> all{of.template operator()<op::rate_is::input>("matrix, rate of the graph", {m, n}),
                          of.template operator()<op::rate_is::input>("scalar, rate of the graph", {}),
                          of.template operator()<op::rate_is::input>("nothing, rate of the graph", {0, n})};
  if constexpr (!op::rate_varies<Rule>) all.push_back(of.template operator()<op::rate_is::literal>("matrix", {m, n}));
  return all;
}
template <class Rule>
std::vector<sample> sparse_update_samples(std::int64_t m, std::int64_t n, double low = -2) {
  const auto of = [=]<op::rate_is Rate>(std::string note, shape extent, shape rows, role index) {
    sample s{std::move(note), {{extent, role::state}}, rule_attributes<Rule, Rate>};
    for (int i = 1; i < Rule::states; ++i) s.inputs.push_back({extent, role::state, low, low + 4});
    s.inputs.push_back({{rows[0]}, index, 0, static_cast<double>(extent[0])});
    s.inputs.push_back({rows});
    if (Rate == op::rate_is::input) s.inputs.insert(s.inputs.end(), op::rates_of<Rule>(), {{}, role::number, 0, 1});
    return s;
  };
  std::vector<sample> all{
      of.template operator()<op::rate_is::input>("some rows, some twice, rate of the graph", {m, n}, {4, n},
                                                 role::index32),
      of.template operator()<op::rate_is::input>("elements, rate of the graph", {m}, {2 * m}, role::index64)};
  if constexpr (!op::rate_varies<Rule>) {
    all.push_back(of.template operator()<op::rate_is::literal>("some rows, some twice", {m, n}, {4, n}, role::index32));
    all.push_back(of.template operator()<op::rate_is::literal>("elements", {m}, {2 * m}, role::index64));
    all.push_back(of.template operator()<op::rate_is::literal>("no rows", {m, n}, {0, n}, role::index32));
  }
  return all;
}

template <class Rule>
row update_row(std::string_view op, double low = -2) {
  return {{op},
          [low](std::string_view, std::int64_t m, std::int64_t n) { return update_samples<Rule>(m, n, low); },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            return expectation{program_reference(op::program_of(c.attrs), c, x, false)};
          }};
}

// By a sparse gradient: rows that are named once or more, by the sum of their gradients; the others stay.
inline std::optional<expectation> sparse_update_reference(const call& c, const tensors& x) {
  const auto states = static_cast<std::size_t>(c.attrs.get<std::int64_t>("states"));
  const std::size_t m = static_cast<std::size_t>(c.inputs[0].shape()[0]), row = x[0].size() / m;
  const auto& p = op::program_of(c.attrs);
  expectation all{std::vector<std::vector<ranged>>(states)};
  for (std::size_t e = 0; e < x[0].size(); ++e) {
    std::vector<double> in;
    for (std::size_t k = 0; k < states; ++k) in.push_back(x[k][e]);
    double gradient = 0, size = 0;
    int named = 0;
    for (std::size_t i = 0; i < x[states].size(); ++i)
      if (static_cast<std::size_t>(x[states][i]) == e / row)
        ++named, gradient += x[states + 1][i * row + e % row], size += std::abs(x[states + 1][i * row + e % row]);
    in.push_back(gradient);
    for (std::size_t k = states + 2; k < x.size(); ++k) in.push_back(x[k][0]);
    const evaluator one(p, in);
    for (std::size_t k = 0; k < states; ++k) {
      ranged r = named ? one.result(k) : ranged{x[k][e], 0};
      if (named) r.slack += 8 * spacing(p.arithmetic, size) * (named > 1 ? 8 : 1);
      all.outputs[k].push_back(r);
    }
  }
  return all;
}
template <class Rule>
row sparse_update_row(std::string_view op, double low = -2) {
  std::vector<any_tensor> misfit(static_cast<std::size_t>(Rule::states), f({2, 3}));
  misfit.insert(misfit.end(), {f({1}), f({1, 3})});
  misfit.insert(misfit.end(), op::rates_of<Rule>(), f({}));
  return {{op},
          [low](std::string_view, std::int64_t m, std::int64_t n) { return sparse_update_samples<Rule>(m, n, low); },
          sparse_update_reference,
          {{op, misfit, rule_attributes<Rule, op::rate_is::input>(dtype::float32), "indices are int32 or int64"}}};
}

// By the product of two matrices.
inline attributes product_attributes(dtype d, bool transpose_a, bool transpose_b, bool has_rate) {
  attributes a = has_rate ? rule_attributes<rules::momentum, op::rate_is::input>(d) : update_attributes(d, 2);
  a.set("transpose_a", transpose_a);
  a.set("transpose_b", transpose_b);
  return a;
}
inline std::vector<sample> product_update_samples(std::string_view, std::int64_t m, std::int64_t n) {
  const auto of = [=](std::string note, std::int64_t k, bool ta, bool tb, bool has_rate) {
    sample s{std::move(note),
             {{{m, n}, role::state},
              {{m, n}, role::state},
              {ta ? shape{k, m} : shape{m, k}},
              {tb ? shape{n, k} : shape{k, n}}},
             [=](dtype d) { return product_attributes(d, ta, tb, has_rate); }};
    if (has_rate) s.inputs.push_back({{}, role::number, 0, 1});
    return s;
  };
  return {of("left one transposed", 3, true, false, false),
          of("right one transposed, rate of the graph", 3, false, true, true),
          of("both transposed", 2, true, true, false), of("of nothing", 0, false, false, false)};
}
inline std::optional<expectation> product_update_reference(const call& c, const tensors& x) {
  const std::size_t states = 2;
  const bool ta = c.attrs.get<bool>("transpose_a"), tb = c.attrs.get<bool>("transpose_b");
  const auto n = static_cast<std::size_t>(c.inputs[0].shape()[1]);
  const auto k = static_cast<std::size_t>(c.inputs[states].shape()[ta ? 0 : 1]);
  const auto m = static_cast<std::size_t>(c.inputs[0].shape()[0]);
  const auto& p = op::program_of(c.attrs);
  expectation all{std::vector<std::vector<ranged>>(states)};
  for (std::size_t e = 0; e < m * n; ++e) {
    double gradient = 0, size = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const double term =
          x[states][ta ? i * m + e / n : e / n * k + i] * x[states + 1][tb ? e % n * k + i : i * n + e % n];
      gradient += term, size += std::abs(term);
    }
    std::vector<double> in{x[0][e], x[1][e], gradient};
    for (std::size_t i = states + 2; i < x.size(); ++i) in.push_back(x[i][0]);
    const evaluator one(p, in);
    for (std::size_t s = 0; s < states; ++s) {
      ranged r = one.result(s);
      r.slack += 8 * spacing(p.arithmetic, size);
      all.outputs[s].push_back(r);
    }
  }
  return all;
}

inline std::vector<row> variable_rows() {
  using enum role;
  return {
      {{"VariableV2"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"matrix", {}, typed({m, n})}};
       },
       [](const call&, const tensors&) -> std::optional<expectation> { return expectation{{{}}}; },
       {},
       true},
      {{"Assign"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, state}, matrix}},
                 {"scalar", {{{}, state}, {{}}}},
                 {"nothing", {{{0}, state}, {{0}}}}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> {
         return expectation{{exactly(x[1]), exactly(x[1])}};
       },
       {{"Assign", {f({2}), f({2})}, {}, "writes a variable"}}},
      {{"AssignAdd", "AssignSub", "AssignMul"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, state}, matrix}},
                 {"scalar", {{{}, state}, {{}}}},
                 {"nothing", {{{0}, state}, {{0}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const std::string& op = c.op;
         std::vector<ranged> y;
         for (std::size_t i = 0; i < x[0].size(); ++i) {
           const double v = op == "AssignAdd"   ? x[0][i] + x[1][i]
                            : op == "AssignSub" ? x[0][i] - x[1][i]
                                                : x[0][i] * x[1][i];
           y.push_back({v, spacing(c.inputs[0].dtype(), v)});
         }
         return expectation{{y, y}};
       },
       {{"AssignAdd", {f({2}), f({2})}, {}, "writes a variable"},
        {"AssignAdd", {text({2}), text({2})}, {}, "of string is not defined"},
        {"AssignSub", {f({2}), f({2})}, {}, "writes a variable"},
        {"AssignSub", {b({2}), b({2})}, {}, "of bool is not defined"},
        {"AssignMul", {f({2}), f({2})}, {}, "writes a variable"},
        {"AssignMul", {text({2}), text({2})}, {}, "of string is not defined"}}},
      update_row<rules::gradient_descent>("ApplyGradientDescent"),
      update_row<rules::momentum>("ApplyMomentum"),
      update_row<rules::adagrad>("ApplyAdagrad", .1),
      update_row<rules::rmsprop>("ApplyRMSProp", .1),
      update_row<rules::centered_rmsprop>("ApplyCenteredRMSProp", .1),
      update_row<rules::adam>("ApplyAdam", .1),
      update_row<rules::adamw>("ApplyAdamW", .1),
      update_row<rules::lion>("ApplyLion"),
      update_row<rules::moving_average>("ApplyMovingAverage"),
      update_row<rules::moving_square>("ApplyMovingSquare"),
      sparse_update_row<rules::adagrad>("SparseApplyAdagrad", .1),
      sparse_update_row<rules::rmsprop>("SparseApplyRMSProp", .1),
      sparse_update_row<rules::centered_rmsprop>("SparseApplyCenteredRMSProp", .1),
      sparse_update_row<rules::adam>("SparseApplyAdam", .1),
      sparse_update_row<rules::adamw>("SparseApplyAdamW", .1),
      sparse_update_row<rules::lion>("SparseApplyLion"),
      sparse_update_row<rules::moving_average>("SparseApplyMovingAverage"),
      sparse_update_row<rules::moving_square>("SparseApplyMovingSquare"),
      {{"ApplyProduct"},
       product_update_samples,
       product_update_reference,
       {{"ApplyProduct",
         {f({2, 3}), f({2, 3}), f({2, 4}), f({5, 3})},
         product_attributes(dtype::float32, false, false, false),
         "inner dimensions"},
        {"ApplyProduct",
         {f({2, 3}), f({2, 3}), f({3, 4}), f({4, 3})},
         product_attributes(dtype::float32, false, false, false),
         "does not update a variable"},
        {"ApplyProduct",
         {f({2, 3}), f({2, 3}), f({2, 4}), d({4, 3})},
         product_attributes(dtype::float32, false, false, false),
         "is double, but the variable is float"},
        {"ApplyProduct",
         {f({2, 3}), f({2, 3}), f({2, 4}), f({4, 3}), f({2})},
         product_attributes(dtype::float32, false, false, true),
         "a rate is a scalar"},
        {"ApplyProduct",
         {f({2, 3}), f({2, 3}), f({2, 4})},
         product_attributes(dtype::float32, false, false, false),
         "two factors"}}},
      {{"SparseApplyGradientDescent", "SparseApplyMomentum"},
       [](std::string_view op, std::int64_t m, std::int64_t n) {
         return op == "SparseApplyMomentum" ? sparse_update_samples<rules::momentum>(m, n)
                                            : sparse_update_samples<rules::gradient_descent>(m, n);
       },
       sparse_update_reference,
       {{"SparseApplyGradientDescent",
         {f({2, 3}), f({1}), f({1, 3})},
         update_attributes(dtype::float32, 1),
         "indices are int32 or int64"},
        {"SparseApplyGradientDescent",
         {f({2, 3}), i({1}), d({1, 3})},
         update_attributes(dtype::float32, 1),
         "is double, but the variable is float"},
        {"SparseApplyGradientDescent",
         {f({2, 3}), i({2}), f({1, 3})},
         update_attributes(dtype::float32, 1),
         "are not rows of a variable"},
        {"SparseApplyGradientDescent",
         {f({}), i({2}), f({2})},
         update_attributes(dtype::float32, 1),
         "a scalar variable has no rows"},
        {"SparseApplyMomentum",
         {f({2, 3}), i({1}), f({1, 3})},
         update_attributes(dtype::float32, 2),
         "takes them, indices and rows"},
        {"SparseApplyMomentum",
         {f({2, 3}), f({2, 3}), i({1, 1}), f({1, 3})},
         update_attributes(dtype::float32, 2),
         "1 dimensions"},
        {"SparseApplyMomentum",
         {f({2, 3}), f({2, 3}), i({1}), f({1, 3}), f({2})},
         rule_attributes<rules::momentum, op::rate_is::input>(dtype::float32),
         "a rate is a scalar"},
        {"SparseApplyMomentum",
         {f({2, 3}), f({2, 3}), i({1}), f({1, 3}), d({})},
         rule_attributes<rules::momentum, op::rate_is::input>(dtype::float32),
         "is double, but the variable is float"},
        {"SparseApplyMomentum",
         {f({2, 3}), f({2, 3}), i({1}), f({1, 3}), f({})},
         update_attributes(dtype::float32, 2),
         "not one of its states, a gradient and 1 scalars"},
        {"SparseApplyMomentum",
         {f({2, 3}), f({2, 3}), i({1}), f({1, 3})},
         widened(update_attributes(dtype::float32, 2)),
         "yields double, but its states are float"}}},
  };
}

}  // namespace laws
