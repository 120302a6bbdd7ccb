// Rows by index.
#pragma once

#include "laws/row.hpp"

namespace laws {

// A tensor seen along an axis: [outer, extent, inner].
struct along {
  std::size_t outer = 1, extent = 1, inner = 1;
  along(const shape& s, const attributes& attrs) {
    const std::int64_t given = attrs.get_or<std::int64_t>("axis", 0), axis = given < 0 ? given + s.rank() : given;
    for (int i = 0; i < s.rank(); ++i)
      (i < axis ? outer : i == axis ? extent : inner) *= static_cast<std::size_t>(s[i]);
  }
};

inline std::vector<row> gather_rows() {
  using enum role;
  return {
      {{"Gather"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         const double rows = static_cast<double>(m);
         return {
             {"rows", {matrix, {{4}, index32, 0, rows}}},
             {"matrix of indices", {matrix, {{2, 3}, index64, 0, rows}}},
             {"one", {{{m}}, {{}, index32, 0, rows}}},
             {"nothing", {matrix, {{0}, index32, 0, 1}}},
             {"columns", {matrix, {{2 * n}, index32, 0, static_cast<double>(n)}}, plain({{"axis", std::int64_t{1}}})},
             {"in the middle", {{{2, m, 3}}, {{2, 2}, index64, 0, rows}}, plain({{"axis", std::int64_t{-2}}})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const along a(c.inputs[0].shape(), c.attrs);
         std::vector<ranged> y;
         for (std::size_t o = 0; o < a.outer; ++o)
           for (double i : x[1])
             for (std::size_t j = 0; j < a.inner; ++j)
               y.push_back({x[0][(o * a.extent + static_cast<std::size_t>(i)) * a.inner + j], 0});
         return expectation{{y}};
       },
       {{"Gather", {f({2}), f({2})}, {}, "int32 or int64"},
        {"Gather", {f({}), i({2})}, {}, "a scalar has none"},
        {"Gather", {f({2, 3}), i({2})}, {{"axis", std::int64_t{2}}}, "axis 2"}}},
      {{"PartitionIndices"},
       [](std::string_view, std::int64_t m, std::int64_t) -> std::vector<sample> {
         const auto of = [](integers rows) { return plain({{"rows", std::move(rows)}}); };
         const double last = static_cast<double>(m - 1);
         return {
             {"three parts", {{{4 * m}, number, 0, last}}, of({m - 3, 2, 1})},
             {"matrix, parts without rows", {{{m, 3}, number, 0, last}}, of({0, 1, 0, m - 1, 0})},
             {"one of one part", {{{}, number, 0, last}}, of({m})},
             {"more parts than a tensor has axes", {{{4 * m}, number, 0, last}}, of({1, 1, 0, m, 1, 1, 1, 1, 2, 1})},
             {"nothing", {{{0}, number, 0, 0}}, of({m, 2})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const auto& rows = c.attrs.get<integers>("rows");
         expectation all;
         std::vector<ranged> places(x[0].size());
         double first = 0, found = 0;
         for (const std::int64_t n : rows) {
           std::vector<ranged> own;
           for (std::size_t i = 0; i < x[0].size(); ++i)
             if (x[0][i] >= first && x[0][i] < first + static_cast<double>(n))
               own.push_back({x[0][i] - first, 0}), places[i] = {found++, 0};
           all.outputs.push_back(own);
           first += static_cast<double>(n);
         }
         all.outputs.push_back(places);
         return all;
       },
       {{"PartitionIndices", {f({2})}, {{"rows", integers{2}}}, "int32 or int64"},
        {"PartitionIndices", {i({2})}, {{"rows", integers{}}}, "among 0 parts"},
        {"PartitionIndices", {i({2})}, {{"rows", integers{2, -1}}}, "a part of -1 rows"},
        {"PartitionIndices", {i({2})}, {{"rows", integers{std::int64_t{1} << 55, std::int64_t{1} << 56}}}, "rows"}}},
      {{"ScatterDense"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         const double rows = static_cast<double>(m);
         return {{"rows", {{{4}, index32, 0, rows}, {{4, n}}, matrix}},
                 {"elements", {{{2 * m}, index64, 0, rows}, {{2 * m}}, {{m}}}},
                 {"nothing", {{{0}, index32, 0, 1}, {{0, n}}, matrix}},
                 {"columns",
                  {{{4}, index32, 0, static_cast<double>(n)}, {{m, 4}}, matrix},
                  plain({{"axis", std::int64_t{1}}})},
                 {"in the middle",
                  {{{4}, index64, 0, rows}, {{2, 4, 3}}, {{2, m, 3}}},
                  plain({{"axis", std::int64_t{1}}})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const along a(c.inputs[2].shape(), c.attrs);
         std::vector<ranged> y(x[2].size());
         for (std::size_t o = 0; o < a.outer; ++o)
           for (std::size_t k = 0; k < x[0].size(); ++k)
             for (std::size_t j = 0; j < a.inner; ++j) {
               const double v = x[1][(o * x[0].size() + k) * a.inner + j];
               ranged& to = y[(o * a.extent + static_cast<std::size_t>(x[0][k])) * a.inner + j];
               to.value += v;
               to.slack += static_cast<double>(x[0].size()) * spacing(c.inputs[1].dtype(), std::abs(v));
             }
         return expectation{{y}};
       },
       {{"ScatterDense", {i({2}), f({3, 2}), f({4, 2})}, {}, "are not rows"},
        {"ScatterDense", {i({2, 1}), f({2, 2}), f({4, 2})}, {}, "1 dimensions"}}},
      {{"OneHot"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto to = [](std::int64_t depth) {
           return [=](dtype d) { return attributes{{"dtype", d}, {"depth", depth}}; };
         };
         const double c = static_cast<double>(n);
         return {{"int32", {{{m}, index32, 0, c}}, to(n)},
                 {"int64, some outside", {{{2, m}, index64, -2, c + 2}}, to(n)},
                 {"uint8", {{{m}, number, 0, c - 1}}, to(n), dtype::uint8},
                 {"scalar", {{{}, index32, 0, 3}}, to(3)},
                 {"nothing", {{{0}, index32, 0, 3}}, to(3)},
                 {"no depth", {{{m}, index32, 0, 3}}, to(0)}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (double i : x[0])
           for (std::int64_t k = 0; k < c.attrs.get<std::int64_t>("depth"); ++k)
             y.push_back({i == static_cast<double>(k) ? 1.0 : 0.0, 0});
         return expectation{{y}};
       },
       {{"OneHot", {f({2})}, {{"dtype", dtype::float32}, {"depth", std::int64_t{3}}}, "are integers"},
        {"OneHot", {i({2})}, {{"dtype", dtype::float32}, {"depth", std::int64_t{-3}}}, "a depth of -3"}}},
  };
}

}  // namespace laws
