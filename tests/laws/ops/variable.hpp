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
  };
}

}  // namespace laws
