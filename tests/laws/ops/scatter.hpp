// Parts at indices of several numbers, and segments.
#pragma once

#include <map>
#include <utility>

#include "laws/ops/order.hpp"
#include "laws/row.hpp"

namespace laws {

// The parts of a tensor at indices: for each index where the elements of its part begin, and their number.
struct parts_of {
  std::vector<std::size_t> begins;
  std::size_t inner = 1;
  parts_of(const shape& of, const shape& indices, const std::vector<double>& numbers) {
    const int d = static_cast<int>(indices[indices.rank() - 1]);
    std::size_t n = 1;
    for (int i = 0; i + 1 < indices.rank(); ++i) n *= static_cast<std::size_t>(indices[i]);
    for (int i = d; i < of.rank(); ++i) inner *= static_cast<std::size_t>(of[i]);
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t at = 0;
      for (int i = 0; i < d; ++i)
        at = at * static_cast<std::size_t>(of[i]) +
             static_cast<std::size_t>(numbers[k * static_cast<std::size_t>(d) + static_cast<std::size_t>(i)]);
      begins.push_back(at * inner);
    }
  }
};

// Adds a number to a sum, as `followed` does it.
inline void add_to(dtype type, ranged& sum, double v) {
  sum = followed(
      type, sum, [v](double a) { return a + v; }, 0);
}

// An index of d numbers each for a tensor, and the shape of what it chooses.
struct places_case {
  std::string note;
  shape of;
  input indices;
  shape chosen;
};
inline std::vector<places_case> places_cases(std::int64_t m, std::int64_t n) {
  using enum role;
  const double both = static_cast<double>(std::min(m, n)), rows = static_cast<double>(m);
  return {{"elements", {m, n}, {{2 * m, 2}, index32, 0, both}, {2 * m}},
          {"rows, repeated", {m, n}, {{2, m, 1}, index64, 0, rows}, {2, m, n}},
          {"lines", {2, m, 3}, {{m, 2}, index32, 0, 2}, {m, 3}},
          {"one", {m, n}, {{2}, index64, 0, both}, {}},
          {"the whole, twice", {m, n}, {{2, 0}, index32, 0, 1}, {2, m, n}},
          {"a scalar", {}, {{3, 0}, index32, 0, 1}, {3}},
          {"none", {m, n}, {{0, 2}, index32, 0, 1}, {0}},
          {"none of nothing", {0, n}, {{0, 1}, index64, 0, 1}, {0, n}},
          {"parts without elements", {m, 0}, {{m, 1}, index32, 0, rows}, {m, 0}}};
}

inline row places_row() {
  return {{"GatherNd"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all;
            for (const places_case& c : places_cases(m, n)) all.push_back({c.note, {{c.of}, c.indices}});
            return all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const parts_of parts(c.inputs[0].shape(), c.inputs[1].shape(), x[1]);
            std::vector<ranged> y;
            for (const std::size_t begin : parts.begins)
              for (std::size_t j = 0; j < parts.inner; ++j) y.push_back({x[0][begin + j], 0});
            return expectation{{y}};
          },
          {{"GatherNd", {f({2}), f({2, 1})}, {}, "int32 or int64"},
           {"GatherNd", {f({2}), i({})}, {}, "a scalar has none"},
           {"GatherNd", {f({2}), i({3, 2})}, {}, "have 2 numbers each"},
           {"GatherNd", {f({1, 1, 1, 1, 1}), i({1, 1, 1, 1, 1, 1})}, {}, "at most 8 dimensions"}}};
}

inline row scattering_row() {
  return {{"ScatterNd", "ScatterNdLike"},
          [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all;
            for (const places_case& c : places_cases(m, n))
              if (op == "ScatterNd")
                all.push_back({c.note, {c.indices, {c.chosen}}, plain({{"shape", c.of}})});
              else
                all.push_back({c.note, {c.indices, {c.chosen}, {c.of}}});
            return all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const shape to = c.op == "ScatterNd" ? c.attrs.get<shape>("shape") : c.inputs[2].shape();
            const parts_of parts(to, c.inputs[0].shape(), x[0]);
            const dtype type = c.inputs[1].dtype();
            std::vector<ranged> y(static_cast<std::size_t>(to.count()));
            for (std::size_t k = 0; k < parts.begins.size(); ++k)
              for (std::size_t j = 0; j < parts.inner; ++j)
                add_to(type, y[parts.begins[k] + j], x[1][k * parts.inner + j]);
            return expectation{{y}};
          },
          {{"ScatterNd", {f({2, 1}), f({2})}, {{"shape", shape{3}}}, "int32 or int64"},
           {"ScatterNd", {i({2, 1}), b({2})}, {{"shape", shape{3}}}, "ScatterNd of bool"},
           {"ScatterNd", {i({2, 1}), f({3})}, {{"shape", shape{3}}}, "they would have shape [2]"},
           {"ScatterNd", {i({2, 2}), f({2})}, {{"shape", shape{3}}}, "have 2 numbers each"},
           {"ScatterNd", {i({2, 1}), f({2})}, {{"shape", shape{unknown}}}, "a known shape"},
           {"ScatterNd", {i({2, 1}), f({2})}, {{"shape", shape::any()}}, "a known shape"},
           {"ScatterNdLike", {i({}), f({2}), f({3})}, {}, "a scalar has none"},
           {"ScatterNdLike", {i({2, 1}), f({2, 2}), f({3, 4})}, {}, "they would have shape [2, 4]"},
           {"ScatterNdLike", {i({2, 1}), b({2}), b({3})}, {}, "ScatterNdLike of bool"}}};
}

inline std::function<attributes(dtype)> segments(std::int64_t n) {
  return plain({{"segments", n}});
}

// Where a segment has no rows and its extreme is the end of all numbers, nothing can be differentiated: such samples
// are of the other folds.
inline std::vector<sample> segment_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  using enum role;
  const bool extreme = op.ends_with("Max") || op.ends_with("Min");
  std::vector<sample> all{{"rows", {{{8 * m, n}}, {{8 * m}, index32, 0, 2}}, segments(2)},
                          {"some dropped", {{{8 * m, 2, 3}}, {{8 * m}, index64, -1, 2}}, segments(2)},
                          {"numbers", {{{8 * m}}, {{8 * m}, index32, 0, 2}}, segments(2)},
                          {"no rows", {{{0, n}}, {{0}, index32, 0, 1}}, segments(3)},
                          {"no segments", {{{m, n}}, {{m}, index32, -2, 0}}, segments(0)},
                          {"rows without elements", {{{m, 0}}, {{m}, index32, 0, 2}}, segments(2)}};
  if (!extreme) all.push_back({"many segments", {{{m, n}}, {{m}, index64, -1, 4}}, segments(5 * m)});
  if (op.ends_with("Prod"))  // of numbers whose products stay numbers
    for (sample& s : all) s.inputs[0].low = -1, s.inputs[0].high = 1;
  return all;
}

// The fold of the rows of a segment so far and a further one; what the fold of none is.
inline ranged folded(std::string_view op, dtype type, const ranged& so_far, double v) {
  if (op.ends_with("Sum"))
    return followed(
        type, so_far, [v](double a) { return a + v; }, 0);
  if (op.ends_with("Prod"))
    return followed(
        type, so_far, [v](double a) { return a * v; }, 0);
  if (std::isnan(so_far.value) || std::isnan(v)) return {NAN, 0};
  return {op.ends_with("Max") ? std::max(so_far.value, v) : std::min(so_far.value, v), 0};
}
inline double fold_of_none(std::string_view op, dtype type) {
  if (op.ends_with("Sum")) return 0;
  if (op.ends_with("Prod")) return 1;
  return visit_plain<dtypes::numbers>(type, [&]<class T>() {
    return static_cast<double>(op.ends_with("Max") ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
  });
}

inline row segments_row() {
  return {{"UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"},
          segment_samples,
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const dtype type = c.inputs[0].dtype();
            const auto n = static_cast<std::size_t>(c.attrs.get<std::int64_t>("segments"));
            std::size_t inner = 1;
            for (int i = 1; i < c.inputs[0].shape().rank(); ++i)
              inner *= static_cast<std::size_t>(c.inputs[0].shape()[i]);
            std::vector<ranged> y(n * inner, {fold_of_none(c.op, type), 0});
            for (std::size_t row = 0; row < x[1].size(); ++row)
              for (std::size_t j = 0; x[1][row] >= 0 && j < inner; ++j) {
                ranged& so_far = y[static_cast<std::size_t>(x[1][row]) * inner + j];
                so_far = folded(c.op, type, so_far, x[0][row * inner + j]);
              }
            return expectation{{y}};
          },
          {{"UnsortedSegmentSum", {f({2}), f({2})}, {{"segments", std::int64_t{1}}}, "int32 or int64"},
           {"UnsortedSegmentMax", {b({2}), i({2})}, {{"segments", std::int64_t{1}}}, "UnsortedSegmentMax of bool"},
           {"UnsortedSegmentMin", {f({}), i({2})}, {{"segments", std::int64_t{1}}}, "a scalar has none"},
           {"UnsortedSegmentProd", {f({2}), i({3})}, {{"segments", std::int64_t{1}}}, "each row has one id"},
           {"UnsortedSegmentSum", {f({2, 2}), i({2, 2})}, {{"segments", std::int64_t{1}}}, "each row has one id"},
           {"UnsortedSegmentSum", {f({2}), i({2})}, {{"segments", std::int64_t{-1}}}, "segments"}}};
}

inline row segment_rows_row() {
  using enum role;
  return {{"GatherSegments"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            return {{"rows", {{{m, n}}, {{2 * m}, index32, 0, static_cast<double>(m)}}, segments(m)},
                    {"some dropped", {{{3, n}}, {{4 * m}, index64, -1, 3}}, segments(3)},
                    {"numbers", {{{3}}, {{4 * m}, index32, -1, 3}}, segments(3)},
                    {"none", {{{3, n}}, {{0}, index32, 0, 1}}, segments(3)},
                    {"none of nothing", {{{0, n}}, {{m}, index32, -1, 0}}, segments(0)}};
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const auto n = static_cast<std::size_t>(c.attrs.get<std::int64_t>("segments"));
            const std::size_t inner = n == 0 ? static_cast<std::size_t>(c.inputs[0].shape()[1]) : x[0].size() / n;
            std::vector<ranged> y;
            for (const double id : x[1])
              for (std::size_t j = 0; j < inner; ++j)
                y.push_back({id < 0 ? 0 : x[0][static_cast<std::size_t>(id) * inner + j], 0});
            return expectation{{y}};
          },
          {{"GatherSegments", {f({2}), f({2})}, {{"segments", std::int64_t{2}}}, "int32 or int64"},
           {"GatherSegments", {b({2}), i({2})}, {{"segments", std::int64_t{2}}}, "GatherSegments of bool"},
           {"GatherSegments", {f({}), i({2})}, {{"segments", std::int64_t{2}}}, "a scalar has none"},
           {"GatherSegments", {f({2}), i({1, 2})}, {{"segments", std::int64_t{2}}}, "1 dimensions"},
           {"GatherSegments", {f({2}), i({2})}, {{"segments", std::int64_t{3}}}, "not those of 3 segments"}}};
}

inline row segment_recurrence_row() {
  return {{"SegmentRecurrence"},
          [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all = segment_samples("Prod", m, n);
            for (std::size_t k = 0; k < all.size(); ++k) {
              all[k].inputs.insert(all[k].inputs.begin(), all[k].inputs[0]);
              all[k].attrs = plain({{"reverse", k % 2 == 1}});
            }
            return all;
          },
          [](const call& c, const tensors& x) -> std::optional<expectation> {
            const std::size_t rows = x[2].size();
            std::size_t inner = 1;
            for (int i = 1; i < c.inputs[0].shape().rank(); ++i)
              inner *= static_cast<std::size_t>(c.inputs[0].shape()[i]);
            std::vector<ranged> y(x[0].size());
            std::map<std::pair<double, std::size_t>, ranged> next;  // by id and column
            for (std::size_t i = 0; i < rows; ++i) {
              const std::size_t row = c.attrs.get<bool>("reverse") ? rows - 1 - i : i;
              for (std::size_t j = 0; x[2][row] >= 0 && j < inner; ++j) {
                const std::size_t e = row * inner + j;
                ranged& of_segment = next[{x[2][row], j}];
                y[e] = of_segment;
                of_segment = followed(
                    c.inputs[0].dtype(), of_segment, [&](double v) { return x[1][e] + x[0][e] * v; },
                    x[0][e] * of_segment.value);
              }
            }
            return expectation{{y}};
          },
          {{"SegmentRecurrence", {f({2}), f({3}), i({2})}, {}, "make no recurrence"},
           {"SegmentRecurrence", {i({2}), i({2}), i({2})}, {}, "alike and floating"},
           {"SegmentRecurrence", {f({2}), f({2}), f({2})}, {}, "int32 or int64"},
           {"SegmentRecurrence", {f({2}), f({2}), i({3})}, {}, "each row has one id"}}};
}

inline std::vector<row> scatter_rows() {
  return {places_row(), scattering_row(), segments_row(), segment_recurrence_row(), segment_rows_row()};
}

}  // namespace laws
