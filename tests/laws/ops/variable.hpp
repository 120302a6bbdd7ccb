// Variables: what names them, what writes them.
#pragma once

#include "laws/ops/map.hpp"

namespace laws {

inline attributes update_attributes(dtype d, int states) {
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = d;
  using value = scalar::symbol<scalar::program>;
  std::vector<value> in;
  for (int i = 0; i <= states; ++i) in.push_back({p.get(), p->emit_input(false)});
  const value rate{p.get(), p->emit_literal(0.25)};
  const value step = states == 1 ? in[1] : in[1] * value{p.get(), p->emit_literal(0.5)} + in[2];
  p->results.push_back({(in[0] - step * rate).id, d});
  if (states == 2) p->results.push_back({step.id, d});
  return {{"program", program_ptr(p)}, {"states", std::int64_t{states}}};
}

inline std::vector<row> variable_rows() {
  using enum role;
  return {
      {{"VariableV2"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"matrix", {}, typed({m, n})}};
       },
       [](const call&, const tensors&) -> std::optional<expectation> {
         return expectation{{{}}};
       },
       {},
       true},
      {{"Assign"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, state}, matrix}}, {"scalar", {{{}, state}, {{}}}}, {"nothing", {{{0}, state}, {{0}}}}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> {
         return expectation{{exactly(x[1]), exactly(x[1])}};
       },
       {{"Assign", {f({2}), f({2})}, {}, "writes a variable"}}},
      {{"AssignAdd", "AssignSub"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, state}, matrix}}, {"scalar", {{{}, state}, {{}}}}, {"nothing", {{{0}, state}, {{0}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const std::string& op = c.op;
         std::vector<ranged> y;
         for (std::size_t i = 0; i < x[0].size(); ++i) {
           const double v = op == "AssignAdd" ? x[0][i] + x[1][i] : x[0][i] - x[1][i];
           y.push_back({v, spacing(c.inputs[0].dtype(), v)});
         }
         return expectation{{y, y}};
       },
       {{"AssignAdd", {f({2}), f({2})}, {}, "writes a variable"},
        {"AssignAdd", {text({2}), text({2})}, {}, "of a string variable is not defined"},
        {"AssignSub", {f({2}), f({2})}, {}, "writes a variable"},
        {"AssignSub", {b({2}), b({2})}, {}, "of a bool variable is not defined"}}},
      {{"ApplyGradientDescent"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, state}, matrix}, [](dtype d) { return update_attributes(d, 1); }}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{program_reference(op::program_of(c.attrs), c, x, false)};
       }},
      {{"ApplyMomentum"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m, n}, state}, {{m, n}, state}, matrix}, [](dtype d) { return update_attributes(d, 2); }}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{program_reference(op::program_of(c.attrs), c, x, false)};
       }},
      {{"SparseApplyGradientDescent", "SparseApplyMomentum"},
       [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const int states = op == "SparseApplyMomentum" ? 2 : 1;
         const auto of = [=](std::string note, shape variable, shape rows, role index) {
           std::vector<input> inputs(static_cast<std::size_t>(states), input{variable, state});
           inputs.push_back({{rows[0]}, index, 0, static_cast<double>(variable[0])});
           inputs.push_back({rows});
           return sample{std::move(note), std::move(inputs), [=](dtype d) { return update_attributes(d, states); }};
         };
         return {of("some rows, some twice", {m, n}, {4, n}, index32), of("elements", {m}, {2 * m}, index64), of("no rows", {m, n}, {0, n}, index32)};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const std::size_t states = x.size() - 2, m = static_cast<std::size_t>(c.inputs[0].shape()[0]), row = x[0].size() / m;
         const auto& p = op::program_of(c.attrs);
         expectation all{std::vector<std::vector<ranged>>(states)};
         for (std::size_t e = 0; e < x[0].size(); ++e) {
           std::vector<double> in;
           for (std::size_t k = 0; k < states; ++k) in.push_back(x[k][e]);
           double gradient = 0, size = 0;
           bool named = false;
           for (std::size_t i = 0; i < x[states].size(); ++i)
             if (static_cast<std::size_t>(x[states][i]) == e / row) named = true, gradient += x[states + 1][i * row + e % row], size += std::abs(x[states + 1][i * row + e % row]);
           in.push_back(gradient);
           const evaluator one(p, in);
           for (std::size_t k = 0; k < states; ++k) {
             ranged r = named ? one.result(k) : ranged{x[k][e], 0};
             r.slack += 8 * spacing(p.arithmetic, size);
             all.outputs[k].push_back(r);
           }
         }
         return all;
       },
       {{"SparseApplyGradientDescent", {f({2, 3}), f({1}), f({1, 3})}, update_attributes(dtype::float32, 1), "indices are int32 or int64"},
        {"SparseApplyGradientDescent", {f({2, 3}), i({1}), d({1, 3})}, update_attributes(dtype::float32, 1), "is double, but the variable is float"},
        {"SparseApplyGradientDescent", {f({2, 3}), i({2}), f({1, 3})}, update_attributes(dtype::float32, 1), "are not rows of a variable"},
        {"SparseApplyGradientDescent", {f({}), i({2}), f({2})}, update_attributes(dtype::float32, 1), "a scalar variable has no rows"},
        {"SparseApplyMomentum", {f({2, 3}), i({1}), f({1, 3})}, update_attributes(dtype::float32, 2), "takes them, indices and rows"},
        {"SparseApplyMomentum", {f({2, 3}), f({2, 3}), i({1, 1}), f({1, 3})}, update_attributes(dtype::float32, 2), "1 dimensions"}}},
  };
}

}  // namespace laws
