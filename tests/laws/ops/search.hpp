// Where elements are.
#pragma once

#include "laws/ops/order.hpp"
#include "laws/row.hpp"

namespace laws {

inline row where_row() {
  using enum role;
  return {{"Where"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            return {{"matrix", {{{m, n}, mask}}},  {"three axes", {{{2, m, 3}, mask}}},
                    {"vector", {{{3 * n}, mask}}}, {"all", {{{m, n}, mask, 1}}},
                    {"one", {{{}, mask, 1}}},      {"nothing", {{{0, n}, mask}}}};
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const shape& s = c.inputs[0].shape();
            std::vector<ranged> y;
            for (std::size_t e = 0; e < x[0].size(); ++e)
              for (int axis = 0; x[0][e] != 0 && axis < s.rank(); ++axis) {
                auto at = static_cast<std::int64_t>(e);
                for (int behind = s.rank() - 1; behind > axis; --behind) at /= s[behind];
                y.push_back({static_cast<double>(at % s[axis]), 0});
              }
            return expectation{{y}};
          },
          {{"Where", {f({2})}, {}, "not which elements of float"}}};
}

inline row masking_row() {
  using enum role;
  const auto at = [](std::int64_t axis) { return plain({{"axis", axis}}); };
  return {{"MaskIndices"},
          [at](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            return {{"rows", {{{m}, mask}, {{m, n}}}, at(0)},
                    {"columns", {{{n}, mask}, {{m, n}}}, at(1)},
                    {"all axes", {{{m, n}, mask}, {{m, n}}}, at(-1)},
                    {"in the middle", {{{m, 3}, mask}, {{2, m, 3, 2}}}, at(-2)},
                    {"all", {{{m}, mask, 1}, {{m, n}}}, at(0)},
                    {"nothing", {{{0}, mask}, {{0, n}}}, at(0)}};
          },
          [](const call&, const tensors& x) -> std::optional<expectation> {
            std::vector<ranged> y;
            for (std::size_t e = 0; e < x[0].size(); ++e)
              if (x[0][e] != 0) y.push_back({static_cast<double>(e), 0});
            return expectation{{y}};
          },
          {{"MaskIndices", {f({2}), f({2})}, on_axis(0), "not which elements of float"},
           {"MaskIndices", {b({}), f({2})}, on_axis(0), "at least one axis"},
           {"MaskIndices", {b({2}), f({3, 2})}, on_axis(0), "a mask of shape [2] at axis 0"},
           {"MaskIndices", {b({2, 3}), f({2})}, on_axis(0), "a mask of shape [2, 3]"},
           {"MaskIndices", {b({2}), f({2})}, on_axis(1), "at axis 1"},
           {"MaskIndices", {b({2}), f({2})}, on_axis(-2), "at axis -2"},
           {"MaskIndices", {b({2}), f({2})}, on_axis(std::numeric_limits<std::int64_t>::max()), "at axis"}}};
}

inline row unique_row() {
  return {{"Unique"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            return {{"some equal", {{{m * n}, role::number, 0, 9}}},
                    {"all equal", {{{n}, role::number, 1, 1}}},
                    {"nothing", {{{0}}}}};
          },
          [](const call&, const tensors& x) -> std::optional<expectation> {
            std::vector<double> values, indices;
            for (const double v : x[0]) {
              const auto at = std::find(values.begin(), values.end(), v);
              indices.push_back(static_cast<double>(at - values.begin()));
              if (at == values.end()) values.push_back(v);
            }
            return expectation{{exactly(values), exactly(indices)}};
          },
          {{"Unique", {f({2, 2})}, {}, "1 dimensions"}}};
}

inline row bounds_row() {
  return {{"LowerBound", "UpperBound"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            const std::vector<sample> all{{"lines", {{{m, 1}}, {{m, n}}}},
                                          {"a line of equal ones", {{{3 * n}, role::number, 1, 1}, {{m}}}},
                                          {"more axes", {{{2, m, 1}}, {{2, m, 3}}}},
                                          {"no values", {{{m, n}}, {{m, 0}}}},
                                          {"empty lines", {{{m, 0}}, {{m, n}}}}};
            std::vector<sample> of_all;
            for (dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
              for (sample s : all) {
                s.note += " of " + std::string(to_string(d)), s.numbers = d;
                of_all.push_back(s);
              }
            return of_all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const auto last = [&](std::size_t i) { return c.inputs[i].shape()[c.inputs[i].shape().rank() - 1]; };
            const auto n = static_cast<std::size_t>(last(0)), k = static_cast<std::size_t>(last(1));
            const auto is_less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
            std::vector<ranged> y;
            for (std::size_t i = 0; i < x[1].size(); ++i) {
              const auto line = x[0].begin() + static_cast<std::ptrdiff_t>(i / k * n);
              const auto end = line + static_cast<std::ptrdiff_t>(n);
              if (!std::is_sorted(line, end, is_less)) return std::nullopt;
              y.push_back({static_cast<double>(std::count_if(line, end,
                                                             [&](double v) {
                                                               return c.op == "LowerBound" ? is_less(v, x[1][i])
                                                                                           : !is_less(x[1][i], v);
                                                             })),
                           0});
            }
            return expectation{{y}};
          },
          {{"LowerBound", {f({2}), d({2})}, {}, "looks for numbers"},
           {"UpperBound", {b({2}), b({2})}, {}, "looks for numbers"},
           {"LowerBound", {f({}), f({2})}, {}, "at least one axis"},
           {"LowerBound", {f({2}), f({})}, {}, "at least one axis"},
           {"UpperBound", {f({2, 3}), f({3, 3})}, {}, "the same extents before the last"},
           {"UpperBound", {f({3}), f({1, 3})}, {}, "the same extents before the last"}}};
}

inline std::vector<row> search_rows() {
  return {where_row(), masking_row(), unique_row(), bounds_row()};
}

}  // namespace laws
