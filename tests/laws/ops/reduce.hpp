// Reductions and their gradients.
#pragma once

#include "laws/ops/map.hpp"
#include "laws/row.hpp"

namespace laws {

inline std::vector<ranged> fold_reference(const std::string& op, const call& c, const std::vector<double>& x) {
  const shape& s = c.inputs[0].shape();
  const dtype type = c.inputs[0].dtype();
  const bool floating = is_floating(type);
  const auto results = static_cast<std::size_t>(reduced_count(s, c.attrs));
  const auto lowest =
      visit_plain(type, [&]<class T>() { return static_cast<double>(std::numeric_limits<T>::lowest()); });
  const auto highest = visit_plain(type, [&]<class T>() { return static_cast<double>(std::numeric_limits<T>::max()); });
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double start = op == "Prod"  ? 1
                       : op == "Max" ? (floating ? -inf : lowest)
                       : op == "Min" ? (floating ? inf : highest)
                                     : 0;
  std::vector<double> y(results, start), size(results, 0), n(results, 0);
  for (std::int64_t e = 0; e < s.count(); ++e) {
    const std::size_t at = reduced_index(s, c.attrs, e);
    const double v = x[static_cast<std::size_t>(e)];
    size[at] += std::abs(v);
    n[at] += 1;
    if (op == "Prod")
      y[at] *= v;
    else if (op == "Max")
      y[at] = std::isnan(v) || std::isnan(y[at]) ? NAN : std::max(y[at], v);
    else if (op == "Min")
      y[at] = std::isnan(v) || std::isnan(y[at]) ? NAN : std::min(y[at], v);
    else
      y[at] += v;
  }
  std::vector<ranged> all;
  for (std::size_t i = 0; i < results; ++i) {
    if (op == "Max" || op == "Min")
      all.push_back({y[i], 0});
    else if (op == "Prod")
      all.push_back(rounded(type, y[i], y[i], n[i]));
    else if (op == "Sum")
      all.push_back(rounded(type, y[i], size[i], n[i]));
    else if (floating)
      all.push_back(rounded(type, y[i] / n[i], size[i] / n[i], n[i] + 1));
    else
      all.push_back({n[i] == 0 ? 0 : std::trunc(y[i] / n[i]), 0});
  }
  return all;
}

// MapReduce by an op, of what another one computes.
inline sample map_reduction_sample(std::string fold, std::string_view op, std::vector<input> inputs,
                                   attributes attrs = {}) {
  return {fold + " of " + std::string(op), std::move(inputs), [=](dtype d) {
            attributes all = attrs;
            all.set("fold", fold);
            all.set("program", program_ptr(std::make_shared<scalar::program>(*map_program(op, d))));
            return all;
          }};
}

// The elements as the program computes them, and their fold, which may be as far off as they are together.
inline std::vector<ranged> map_reduction_reference(const call& c, const tensors& x) {
  const auto& p = op::program_of(c.attrs);
  const auto elements = program_reference(p, c, x, false)[0];
  shape space{};
  for (const any_tensor& t : c.inputs) {
    shape wider;
    broadcast(space, t.shape(), wider);
    space = wider;
  }
  const std::string& fold = c.attrs.get<std::string>("fold");
  std::vector<double> values;
  for (const ranged& e : elements) values.push_back(e.value);
  auto y = fold_reference(fold, {fold, {any_tensor(p.arithmetic, space)}, {false}, c.attrs}, values);
  for (std::int64_t e = 0; e < space.count(); ++e)
    y[reduced_index(space, c.attrs, e)].slack += elements[static_cast<std::size_t>(e)].slack;
  return y;
}

inline attributes map_reduction(std::string fold, attributes map) {
  map.set("fold", std::move(fold));
  return map;
}

// Element k of ProdGrad: dy times the sum, over all ways to choose another element for each weight, no two the same, of
// the weights there and the rest of x.
class slope_of_product {
 public:
  slope_of_product(const call& c, const tensors& x, std::int64_t k) : x_(x) {
    const shape& s = c.inputs[1].shape();
    const std::size_t here = reduced_index(s, c.attrs, k);
    std::vector<std::size_t> others;
    for (std::int64_t e = 0; e < s.count(); ++e)
      if (e != k && reduced_index(s, c.attrs, e) == here) others.push_back(static_cast<std::size_t>(e));
    roundings_ = static_cast<double>((x.size() + 1) * others.size() + 4);
    choose(2, x[0][here], others);
  }
  ranged in(dtype type) const { return rounded(type, sum_, size_, roundings_); }

 private:
  void choose(std::size_t weight, double product, const std::vector<std::size_t>& others) {
    if (weight == x_.size()) {
      for (const std::size_t e : others) product *= x_[1][e];
      sum_ += product, size_ += std::abs(product);
      return;
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      std::vector<std::size_t> rest = others;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      choose(weight + 1, product * x_[weight][others[i]], rest);
    }
  }

  const tensors& x_;
  double sum_ = 0, size_ = 0, roundings_ = 0;
};

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
         return {{"rows", {{{m, n}, mask}}, plain(axes({1}))},
                 {"all", {{{m, n}, mask, 1, 1}}},
                 {"of nothing", {{{0, n}, mask}}, plain(axes({0}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y(static_cast<std::size_t>(reduced_count(c.inputs[0].shape(), c.attrs)),
                               {c.op == "All" ? 1.0 : 0.0, 0});
         for (std::int64_t e = 0; e < c.inputs[0].count(); ++e) {
           double& to = y[reduced_index(c.inputs[0].shape(), c.attrs, e)].value;
           to = c.op == "All" ? std::min(to, x[0][static_cast<std::size_t>(e)])
                              : std::max(to, x[0][static_cast<std::size_t>(e)]);
         }
         return expectation{{y}};
       },
       {{"All", {f({2})}, {}, "All of float"}, {"Any", {i({2})}, {}, "Any of int32"}}},
      {{"ExpandLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"scalar", {{{}}, matrix}},
                 {"rows, mean",
                  {{{m}}, matrix},
                  [](dtype) {
                    auto a = axes({1});
                    a.set("mean", true);
                    return a;
                  }},
                 {"more than an element counts, mean",
                  {{{}}, {{256}}},
                  [](dtype) {
                    auto a = axes({0});
                    a.set("mean", true);
                    return a;
                  }},
                 {"columns, kept", {{{1, n}}, matrix}, plain(axes({0}, true))},
                 {"columns, of two shapes", {{{n}}, {{m, 1}}, {{n}}}, plain(axes({0}))},
                 {"to nothing", {{{0}}, {{0, n}}}, plain(axes({1}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         shape s = c.inputs[1].shape();
         for (std::size_t i = 2; i < c.inputs.size(); ++i) {
           shape wider;
           broadcast(s, c.inputs[i].shape(), wider);
           s = wider;
         }
         const dtype type = c.inputs[0].dtype();
         const double n = c.attrs.get_or("mean", false)
                              ? static_cast<double>(s.count() / std::max<std::int64_t>(1, reduced_count(s, c.attrs)))
                              : 1;
         std::vector<ranged> y;
         for (std::int64_t e = 0; e < s.count(); ++e) {
           const double v = x[0][reduced_index(s, c.attrs, e)] / n;
           y.push_back({is_floating(type) ? v : std::trunc(v), 2 * spacing(type, v)});
         }
         return expectation{{y}};
       },
       {{"ExpandLike", {f({3}), f({2, 3})}, axes({1}), "does not fit"},
        {"ExpandLike", {f({3}), f({2, 3}), f({2})}, axes({1}), "do not broadcast"}}},
      {{"MapReduce"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}}, row{{n}}, column{{m, 1}};
         return {map_reduction_sample("Sum", "Mul", {matrix, matrix}),
                 map_reduction_sample("Mean", "Sub", {matrix, row}, axes({1})),
                 map_reduction_sample("Sum", "Mul", {column, row}, axes({0}, true)),
                 map_reduction_sample("Max", "Neg", {matrix}, axes({0})),
                 map_reduction_sample("Min", "Add", {{{2, m, 1}}, {{n}}}, axes({0, 2})),
                 map_reduction_sample("Sum", "Square", {matrix}, axes({})),
                 map_reduction_sample("Mean", "Square", {{{0, n}}}, axes({0})),
                 map_reduction_sample("Sum", "Square", {{{0, n}}}, axes({1}))};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{{map_reduction_reference(c, x)}};
       },
       {{"MapReduce", {f({2, 3}), f({2})}, map_reduction("Sum", mapped("Mul")), "do not broadcast"},
        {"MapReduce", {f({2}), f({2})}, map_reduction("Sum", mapped("Less")), "folds one number"},
        {"MapReduce", {f({2})}, map_reduction("Sum", mapped("Mul")), "MapReduce takes 2 inputs"}}},
      {{"ProdGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}}, few{{m}, number, 0.5, 1.5};
         return {{"all", {{{}}, few}},
                 {"rows", {{{m}}, matrix}, plain(axes({1}))},
                 {"all, weighted", {{{}}, few, {{m}}}},
                 {"rows, weighted", {{{m}}, matrix, matrix}, plain(axes({1}))},
                 {"rows, weighted twice", {{{2}}, {{2, 4}}, {{2, 4}}, {{2, 4}}}, plain(axes({1}))},
                 {"one, weighted", {{{}}, {{1}}, {{1}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (std::int64_t k = 0; k < c.inputs[1].shape().count(); ++k)
           y.push_back(slope_of_product(c, x, k).in(c.inputs[1].dtype()));
         return expectation{{y}};
       },
       {{"ProdGrad", {f({3}), f({2, 3})}, axes({1}), "does not fit"},
        {"ProdGrad", {f({2}), f({2, 3}), f({3})}, axes({1}), "weights of float [3]"},
        {"ProdGrad",
         std::vector<any_tensor>(23, f({})),
         {},
         "a derivative of order 22 of a product; 21 is the highest"}}},
      {{"ArgMax", "ArgMin"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         std::vector<sample> all;
         for (dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8}) {
           all.push_back({"rows of " + std::string(to_string(d)), {matrix}, plain({{"axis", std::int64_t{1}}}), d});
           all.push_back(
               {"middle of " + std::string(to_string(d)), {{{2, m, 3}}}, plain({{"axis", std::int64_t{-2}}}), d});
         }
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto axis = static_cast<int>((c.attrs.get<std::int64_t>("axis") + s.rank()) % s.rank());
         const double sign = c.op == "ArgMax" ? 1 : -1;
         std::int64_t outer = 1, inner = 1;
         for (int i = 0; i < axis; ++i) outer *= s[i];
         for (int i = axis + 1; i < s.rank(); ++i) inner *= s[i];
         std::vector<ranged> y;
         for (std::int64_t o = 0; o < outer; ++o)
           for (std::int64_t in = 0; in < inner; ++in) {
             const auto at = [&](std::int64_t k) {
               return sign * x[0][static_cast<std::size_t>((o * s[axis] + k) * inner + in)];
             };
             std::int64_t best = 0;
             for (std::int64_t k = 1; k < s[axis]; ++k)
               if (at(k) > at(best) || (std::isnan(at(k)) && !std::isnan(at(best)))) best = k;
             y.push_back({static_cast<double>(best), 0});
           }
         return expectation{{y}};
       },
       {{"ArgMax", {f({2})}, {{"axis", std::int64_t{1}}}, "axis 1"},
        {"ArgMax", {b({2})}, {{"axis", std::int64_t{0}}}, "ArgMax of bool"},
        {"ArgMin", {f({2})}, {{"axis", std::int64_t{-2}}}, "axis -2"}}},
  };
}

}  // namespace laws
