// Order along an axis.
#pragma once

#include "laws/row.hpp"

namespace laws {

// The lines along the axis of a node: where the elements of each are.
inline std::vector<std::vector<std::size_t>> lines_along(const shape& s, std::int64_t given) {
  const std::int64_t axis = given < 0 ? given + s.rank() : given;
  std::size_t outer = 1, extent = 1, inner = 1;
  for (int i = 0; i < s.rank(); ++i) (i < axis ? outer : i == axis ? extent : inner) *= static_cast<std::size_t>(s[i]);
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t j = 0; j < inner; ++j) {
      all.emplace_back();
      for (std::size_t k = 0; k < extent; ++k) all.back().push_back((o * extent + k) * inner + j);
    }
  return all;
}
inline std::vector<std::vector<std::size_t>> lines_of(const call& c, std::size_t input) {
  return lines_along(c.inputs[input].shape(), c.attrs.get<std::int64_t>("axis"));
}

// The places of a line's elements in their order, with NaN last or first.
inline std::vector<std::size_t> order_of(const std::vector<double>& x, const std::vector<std::size_t>& line,
                                         bool descending, bool nan_first = false) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < line.size(); ++k) {  // each goes before the first that it stands before
    auto at = places.begin();
    const double v = x[line[k]];
    const auto stands_before = [&](double w) {
      if (std::isnan(v) || std::isnan(w)) return std::isnan(v) != std::isnan(w) && std::isnan(v) == nan_first;
      return descending ? v > w : v < w;
    };
    while (at != places.end() && !stands_before(x[line[*at]])) ++at;
    places.insert(at, k);
  }
  return places;
}

inline attributes on_axis(std::int64_t axis, std::string_view flag = {}, std::string_view other = {}) {
  attributes a{{"axis", axis}};
  if (!flag.empty()) a.set(std::string(flag), true);
  if (!other.empty()) a.set(std::string(other), true);
  return a;
}

// Samples of an op of one tensor along an axis.
inline std::vector<sample> samples_along(std::int64_t m, std::int64_t n, std::string_view flag,
                                         std::string_view other) {
  return {{"rows", {{{m, n}}}, plain(on_axis(1))},
          {"columns", {{{m, n}}}, plain(on_axis(-2, flag))},
          {"in the middle", {{{2, m, 3}}}, plain(on_axis(1, other))},
          {"vector", {{{3 * n}}}, plain(on_axis(0, flag, other))},
          {"one", {{{1}}}, plain(on_axis(-1, flag))},
          {"no rows", {{{0, n}}}, plain(on_axis(0))},
          {"no lines", {{{0, n}}}, plain(on_axis(1, flag))},
          {"nothing in the middle", {{{2, 0, 3}}}, plain(on_axis(1, other))}};
}

inline row order_row() {
  return {{"Sort", "ArgSort"},
          [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all = samples_along(m, n, "descending", {});
            all.push_back({"equal ones", {{{m, 2 * n}, role::number, 0, 3}}, plain(on_axis(1, "descending"))});
            if (op == "Sort") return all;
            std::vector<sample> of_all;
            for (dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
              for (sample s : all) {
                s.note += " of " + std::string(to_string(d)), s.numbers = d;
                of_all.push_back(s);
              }
            return of_all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            std::vector<ranged> y(x[0].size());
            for (const auto& line : lines_of(c, 0)) {
              const auto places = order_of(x[0], line, c.attrs.get_or("descending", false));
              for (std::size_t k = 0; k < line.size(); ++k)
                y[line[k]] = {c.op == "Sort" ? x[0][line[places[k]]] : static_cast<double>(places[k]), 0};
            }
            return expectation{{y}};
          },
          {{"Sort", {f({2})}, on_axis(1), "axis 1"},
           {"Sort", {f({})}, on_axis(0), "axis 0"},
           {"ArgSort", {f({2})}, on_axis(1), "axis 1"},
           {"Sort", {b({2})}, on_axis(0), "Sort of bool"},
           {"ArgSort", {b({2})}, on_axis(0), "ArgSort of bool"}}};
}

inline row largest_row() {
  const auto of = [](std::int64_t k) { return plain({{"k", k}}); };
  return {{"TopKV2"},
          [of](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            return {{"some", {{{m, n}}}, of(2)},
                    {"all", {{{2, m, n}}}, of(n)},
                    {"equal ones", {{{m, 2 * n}, role::number, 0, 3}}, of(n)},
                    {"none", {{{m, n}}}, of(0)},
                    {"of a vector", {{{3 * n}}}, of(n)},
                    {"no rows", {{{0, n}}}, of(2)},
                    {"none of nothing", {{{m, 0}}}, of(0)}};
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            expectation y{{{}, {}}};
            const auto k = static_cast<std::size_t>(c.attrs.get<std::int64_t>("k"));
            for (const auto& line : lines_along(c.inputs[0].shape(), -1)) {
              const auto places = order_of(x[0], line, true, true);
              for (std::size_t i = 0; i < k; ++i) {
                y.outputs[0].push_back({x[0][line[places[i]]], 0});
                y.outputs[1].push_back({static_cast<double>(places[i]), 0});
              }
            }
            return y;
          },
          {{"TopKV2", {f({2, 3})}, {{"k", std::int64_t{4}}}, "the 4 largest of 3 elements"},
           {"TopKV2", {f({})}, {{"k", std::int64_t{0}}}, "a scalar has none"},
           {"TopKV2", {b({3})}, {{"k", std::int64_t{1}}}, "TopKV2 of bool"}}};
}

// What is gone through along a line, from the place where it begins.
inline std::vector<std::size_t> directed(std::vector<std::size_t> line, const call& c) {
  if (c.attrs.get_or("reverse", false)) std::reverse(line.begin(), line.end());
  return line;
}

inline double wrapped(dtype type, double v) {
  switch (type) {
    case dtype::uint8: return static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(v)));
    case dtype::int32: return static_cast<double>(static_cast<std::int32_t>(static_cast<std::int64_t>(v)));
    default: return v;
  }
}

// The element behind one that is known so far, to within its slack: next(x) is computed of that one, and of a term of
// that size on the way. Its own slack is how far next goes apart over those of the one before, and the rounding. Behind
// a sure overflow comes an infinity; where it is not sure, anything.
template <class Next>
ranged followed(dtype type, const ranged& so_far, const Next& next, double term) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const double value = next(so_far.value);
  if (!is_floating(type)) return {wrapped(type, value), 0};
  double slack = 0;
  for (const double x : {so_far.value - so_far.slack, so_far.value + so_far.slack}) {
    const double other = next(x), apart = std::abs(other - value);
    if (other == value || (std::isnan(other) && std::isnan(value))) continue;
    slack = std::max(slack, std::isnan(apart) ? unknown : apart);
  }
  if (std::isnan(value) || slack == unknown) return {value, slack};
  const double most = largest(type), edge = 2 * spacing(type, most);
  if (std::abs(value) - slack > most + edge) return {std::copysign(unknown, value), 0};
  if (std::abs(value) + slack > most - edge || std::abs(term) > most - edge) return {value, unknown};
  return {value, slack + spacing(type, value) + spacing(type, term)};
}

inline row cumulative_row() {
  return {{"Cumsum", "Cumprod"},
          [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all = samples_along(m, n, "exclusive", "reverse");
            if (op == "Cumprod")  // of numbers whose products stay numbers
              for (sample& s : all) s.inputs[0].low = -1, s.inputs[0].high = 1;
            all.push_back({"beside zeros", {{{m, 4}, role::number, 0, 0}}, plain(on_axis(1))});
            return all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const dtype type = c.inputs[0].dtype();
            const bool sums = c.op == "Cumsum", exclusive = c.attrs.get_or("exclusive", false);
            std::vector<ranged> y(x[0].size());
            for (const auto& forward : lines_of(c, 0)) {
              ranged so_far{sums ? 0.0 : 1.0, 0};
              for (const std::size_t e : directed(forward, c)) {
                if (exclusive) y[e] = so_far;
                const double v = x[0][e];
                so_far = followed(
                    type, so_far, [&](double a) { return sums ? a + v : a * v; }, 0);
                if (!exclusive) y[e] = so_far;
              }
            }
            return expectation{{y}};
          },
          {{"Cumsum", {f({2})}, on_axis(1), "axis 1"},
           {"Cumprod", {f({})}, on_axis(0), "axis 0"},
           {"Cumsum", {b({2})}, on_axis(0), "Cumsum of bool"},
           {"Cumprod", {b({2})}, on_axis(0), "Cumprod of bool"}}};
}

inline row recurrence_row() {
  return {{"LinearRecurrence"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all = samples_along(m, n, "reverse", {});
            for (sample& s : all) {
              s.inputs.push_back(s.inputs[0]);
              s.inputs[0].low = -1, s.inputs[0].high = 1;
            }
            return all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            std::vector<ranged> y(x[0].size());
            for (const auto& forward : lines_of(c, 0)) {
              ranged so_far{0, 0};
              for (const std::size_t e : directed(forward, c)) {
                y[e] = so_far;
                so_far = followed(
                    c.inputs[0].dtype(), so_far, [&](double y) { return x[1][e] + x[0][e] * y; },
                    x[0][e] * so_far.value);
              }
            }
            return expectation{{y}};
          },
          {{"LinearRecurrence", {f({2}), f({3})}, on_axis(0), "make no recurrence"},
           {"LinearRecurrence", {f({2}), f({2})}, on_axis(1), "axis 1"},
           {"LinearRecurrence", {i({2}), i({2})}, on_axis(0), "LinearRecurrence of int32"}}};
}

inline row taking_row() {
  using enum role;
  return {{"TakeAlongAxis"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            const double rows = static_cast<double>(m), columns = static_cast<double>(n);
            return {{"rows", {{{m, n}}, {{m, 2}, index32, 0, columns}}, plain(on_axis(1))},
                    {"columns, repeated", {{{m, n}}, {{2 * m, n}, index64, 0, rows}}, plain(on_axis(-2))},
                    {"in the middle", {{{2, m, 3}}, {{2, 4, 3}, index32, 0, rows}}, plain(on_axis(1))},
                    {"vector", {{{3 * n}}, {{n}, index64, 0, columns}}, plain(on_axis(0))},
                    {"none", {{{m, n}}, {{m, 0}, index32, 0, 1}}, plain(on_axis(1))},
                    {"none of nothing", {{{m, 0}}, {{m, 0}, index32, 0, 1}}, plain(on_axis(1))},
                    {"no lines", {{{0, n}}, {{0, 2}, index32, 0, 1}}, plain(on_axis(1))}};
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            std::vector<ranged> y(x[1].size());
            const auto from = lines_of(c, 0), to = lines_of(c, 1);
            for (std::size_t line = 0; line < to.size(); ++line)
              for (const std::size_t e : to[line]) y[e] = {x[0][from[line][static_cast<std::size_t>(x[1][e])]], 0};
            return expectation{{y}};
          },
          {{"TakeAlongAxis", {f({2}), f({2})}, on_axis(0), "int32 or int64"},
           {"TakeAlongAxis", {b({2}), i({2})}, on_axis(0), "TakeAlongAxis of bool"},
           {"TakeAlongAxis", {f({2}), i({2})}, on_axis(1), "axis 1"},
           {"TakeAlongAxis", {f({2, 3}), i({2})}, on_axis(1), "extents along the other axes"},
           {"TakeAlongAxis", {f({2, 3}), i({3, 3})}, on_axis(1), "extents along the other axes"}}};
}

inline row adding_row() {
  using enum role;
  return {{"AddAlongAxis"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            const double rows = static_cast<double>(m), columns = static_cast<double>(n);
            const input matrix{{m, n}};
            return {{"rows", {{{m, 2}, index32, 0, columns}, {{m, 2}}, matrix}, plain(on_axis(1))},
                    {"columns, repeated", {{{2 * m, n}, index64, 0, rows}, {{2 * m, n}}, matrix}, plain(on_axis(-2))},
                    {"in the middle", {{{2, 4, 3}, index32, 0, rows}, {{2, 4, 3}}, {{2, m, 3}}}, plain(on_axis(1))},
                    {"vector", {{{n}, index64, 0, columns}, {{n}}, {{3 * n}}}, plain(on_axis(0))},
                    {"none", {{{m, 0}, index32, 0, 1}, {{m, 0}}, matrix}, plain(on_axis(1))},
                    {"none of nothing", {{{m, 0}, index32, 0, 1}, {{m, 0}}, {{m, 0}}}, plain(on_axis(1))},
                    {"no lines", {{{0, 2}, index32, 0, 1}, {{0, 2}}, {{0, n}}}, plain(on_axis(1))}};
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            std::vector<ranged> y(x[2].size());
            const auto from = lines_of(c, 0), to = lines_of(c, 2);
            for (std::size_t line = 0; line < from.size(); ++line)
              for (const std::size_t e : from[line]) {
                ranged& sum = y[to[line][static_cast<std::size_t>(x[0][e])]];
                sum.value += x[1][e];
                sum.slack += static_cast<double>(from[line].size()) * spacing(c.inputs[1].dtype(), std::abs(x[1][e]));
              }
            for (ranged& sum : y) sum.value = wrapped(c.inputs[1].dtype(), sum.value);
            return expectation{{y}};
          },
          {{"AddAlongAxis", {f({2}), f({2}), f({2})}, on_axis(0), "int32 or int64"},
           {"AddAlongAxis", {i({2}), b({2}), b({2})}, on_axis(0), "AddAlongAxis of bool"},
           {"AddAlongAxis", {i({2}), f({3}), f({4})}, on_axis(0), "each has its own index"},
           {"AddAlongAxis", {i({2, 2}), f({2, 2}), f({3, 2})}, on_axis(1), "extents along the other axes"}}};
}

inline std::vector<row> order_rows() {
  return {order_row(), largest_row(), cumulative_row(), recurrence_row(), taking_row(), adding_row()};
}

}  // namespace laws
