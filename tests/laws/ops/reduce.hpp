// Reductions and their gradients.
#pragma once

#include "laws/row.hpp"

namespace laws {

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

inline std::vector<row> reduce_rows() {
  using enum role;
  return {
      {{"Sum", "Mean", "Max", "Min", "Prod"},
       [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const double low = op == "Prod" ? 0.5 : -2, high = op == "Prod" ? 1.5 : 2;
         const auto of = [=](shape s) { return input{s, number, low, high}; };
         return {{"all", {of({m, n})}},
                 {"rows", {of({m, n})}, plain(axes({1}))},
                 {"columns, kept", {of({m, n})}, plain(axes({-2}, true))},
                 {"no axis", {of({m, n})}, plain(axes({}))},
                 {"outer and inner", {of({2, m, 3})}, plain(axes({0, 2}))},
                 {"scalar", {of({})}},
                 {"of nothing", {of({0, n})}, plain(axes({0}))},
                 {"to nothing", {of({0, n})}, plain(axes({1}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{{fold_reference(c.op, c, x[0])}};
       },
       {{"Sum", {b({2})}, {}, "Sum of bool"},
        {"Sum", {f({2, 3})}, axes({2}), "axis 2"},
        {"Sum", {f({2, 3})}, axes({0, -2}), "twice"},
        {"Mean", {b({2})}, {}, "Mean of bool"},
        {"Max", {text({2})}, {}, "Max of string"},
        {"Min", {f({2})}, axes({-2}), "axis -2"},
        {"Prod", {b({2})}, {}, "Prod of bool"}}},
      {{"All", "Any"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"rows", {{{m, n}, mask}}, plain(axes({1}))}, {"all", {{{m, n}, mask, 1, 1}}}, {"of nothing", {{{0, n}, mask}}, plain(axes({0}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y(static_cast<std::size_t>(reduced_count(c.inputs[0].shape(), c.attrs)), {c.op == "All" ? 1.0 : 0.0, 0});
         for (std::int64_t e = 0; e < c.inputs[0].count(); ++e) {
           double& to = y[reduced_index(c.inputs[0].shape(), c.attrs, e)].value;
           to = c.op == "All" ? std::min(to, x[0][static_cast<std::size_t>(e)]) : std::max(to, x[0][static_cast<std::size_t>(e)]);
         }
         return expectation{{y}};
       },
       {{"All", {f({2})}, {}, "All of float"}, {"Any", {i({2})}, {}, "Any of int32"}}},
      {{"ExpandLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"scalar", {{{}}, matrix}},
                 {"rows, mean", {{{m}}, matrix}, [](dtype) { auto a = axes({1}); a.set("mean", true); return a; }},
                 {"columns, kept", {{{1, n}}, matrix}, plain(axes({0}, true))},
                 {"to nothing", {{{0}}, {{0, n}}}, plain(axes({1}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[1].shape();
         const dtype type = c.inputs[0].dtype();
         const double n = c.attrs.get_or("mean", false) ? static_cast<double>(s.count() / std::max<std::int64_t>(1, reduced_count(s, c.attrs))) : 1;
         std::vector<ranged> y;
         for (std::int64_t e = 0; e < s.count(); ++e) {
           const double v = x[0][reduced_index(s, c.attrs, e)] / n;
           y.push_back({is_floating(type) ? v : std::trunc(v), 2 * spacing(type, v)});
         }
         return expectation{{y}};
       },
       {{"ExpandLike", {f({3}), f({2, 3})}, axes({1}), "does not fit"}}},
      {{"ProdGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"all", {{{}}, {{m}, number, 0.5, 1.5}}}, {"rows", {{{m}}, matrix}, plain(axes({1}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[1].shape();
         std::vector<ranged> y;
         for (std::int64_t e = 0; e < s.count(); ++e) {
           double v = x[0][reduced_index(s, c.attrs, e)];
           for (std::int64_t f = 0; f < s.count(); ++f)
             if (f != e && reduced_index(s, c.attrs, f) == reduced_index(s, c.attrs, e)) v *= x[1][static_cast<std::size_t>(f)];
           y.push_back(rounded(c.inputs[1].dtype(), v, v, static_cast<double>(s.count()) + 2));
         }
         return expectation{{y}};
       },
       {{"ProdGrad", {f({3}), f({2, 3})}, axes({1}), "does not fit"}}},
      {{"ProdGradGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"all", {{{}}, {{m}, number, 0.5, 1.5}, {{m}}}}, {"rows", {{{m}}, matrix, matrix}, plain(axes({1}))}, {"one", {{{}}, {{1}}, {{1}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[1].shape();
         const auto together = [&](std::int64_t a, std::int64_t b) { return reduced_index(s, c.attrs, a) == reduced_index(s, c.attrs, b); };
         std::vector<ranged> y;
         for (std::int64_t k = 0; k < s.count(); ++k) {
           double sum = 0, size = 0;
           for (std::int64_t i = 0; i < s.count(); ++i) {
             if (i == k || !together(i, k)) continue;
             double product = x[0][reduced_index(s, c.attrs, k)] * x[2][static_cast<std::size_t>(i)];
             for (std::int64_t j = 0; j < s.count(); ++j)
               if (j != i && j != k && together(j, k)) product *= x[1][static_cast<std::size_t>(j)];
             sum += product, size += std::abs(product);
           }
           y.push_back(rounded(c.inputs[1].dtype(), sum, size, 3 * static_cast<double>(s.count()) + 4));
         }
         return expectation{{y}};
       },
       {{"ProdGradGrad", {f({2}), f({2, 3}), f({3})}, axes({1}), "weights of float [3]"}}},
      {{"ArgMax"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         std::vector<sample> all;
         for (dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8}) {
           all.push_back({"rows of " + std::string(to_string(d)), {matrix}, plain({{"axis", std::int64_t{1}}}), d});
           all.push_back({"middle of " + std::string(to_string(d)), {{{2, m, 3}}}, plain({{"axis", std::int64_t{-2}}}), d});
         }
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
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
       },
       {{"ArgMax", {f({2})}, {{"axis", std::int64_t{1}}}, "axis 1"},
        {"ArgMax", {b({2})}, {{"axis", std::int64_t{0}}}, "ArgMax of bool"}}},
  };
}

}  // namespace laws
