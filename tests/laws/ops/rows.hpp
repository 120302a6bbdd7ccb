// Updates of parts of variables at indices.
#pragma once

#include <functional>

#include "laws/row.hpp"

namespace laws {

// The new value of an element by its update.
inline double updated(std::string_view op, double old, double by, dtype type) {
  if (op.ends_with("Update")) return by;
  if (op.ends_with("Add")) return old + by;
  if (op.ends_with("Sub")) return old - by;
  if (op.ends_with("Mul")) return old * by;
  if (op.ends_with("Min")) return std::isnan(old) || std::isnan(by) ? NAN : std::min(old, by);
  if (op.ends_with("Max")) return std::isnan(old) || std::isnan(by) ? NAN : std::max(old, by);
  if (is_floating(type)) return old / by;
  return by == 0 ? 0 : std::trunc(old / by);
}

// The values of a variable whose rows, blocks of `inner` elements, are updated in their order; `outer` times.
inline expectation updated_rows(const call& c, const tensors& x, const std::vector<std::size_t>& rows,
                                std::size_t extent, std::size_t inner, std::size_t outer) {
  const dtype type = c.inputs[0].dtype();
  std::vector<ranged> y = exactly(x[0]);
  const bool is_one = c.inputs[2].shape().rank() == 0;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t e = 0; e < inner; ++e) {
        ranged& at = y[(o * extent + rows[i]) * inner + e];
        const double by = is_one ? x[2][0] : x[2][(o * rows.size() + i) * inner + e];
        const bool computes = !c.op.ends_with("Update") && !c.op.ends_with("Min") && !c.op.ends_with("Max");
        const double grows = c.op.ends_with("Mul") ? std::abs(by) : c.op.ends_with("Div") ? std::abs(1 / by) : 1;
        at.value = updated(c.op, at.value, by, type);
        if (computes) at.slack = at.slack * std::max(1.0, grows) + spacing(type, at.value) + spacing(type, by);
      }
  return {{y, y}};
}

inline std::vector<std::size_t> whole_rows(const std::vector<double>& indices) {
  return {indices.begin(), indices.end()};
}

// Updates of a value in place of a variable.
inline std::vector<misfit> unwritten(const std::vector<std::string_view>& ops, const any_tensor& indices) {
  std::vector<misfit> all;
  for (const std::string_view op : ops) all.push_back({op, {f({2, 3}), indices, f({2, 3})}, {}, "writes a variable"});
  return all;
}

inline std::vector<row> rows_rows() {
  using enum role;
  const any_tensor indices = of(dtype::int32, {2});
  return {
      {{"ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto along = [](std::int64_t axis) { return plain({{"axis", axis}}); };
         const auto up_to = [](std::int64_t extent) { return static_cast<double>(extent); };
         return {{"rows", {{{m, n}, state}, {{3}, index32, 0, up_to(m)}, {{3, n}}}},
                 {"columns", {{{m, n}, state}, {{2, 2}, index64, 0, up_to(n)}, {{m, 2, 2}}}, along(-1)},
                 {"one row", {{{m, n}, state}, {{}, index32, 0, up_to(m)}, {{n}}}},
                 {"by a scalar", {{{2, m, n}, state}, {{2}, index64, 0, up_to(m)}, {{}}}, along(1)},
                 {"no rows", {{{m, n}, state}, {{0}, index32, 0, 1}, {{0, n}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto axis = c.attrs.get_or("axis", std::int64_t{0});
         const auto at = static_cast<int>(axis < 0 ? axis + s.rank() : axis);
         std::size_t outer = 1, inner = 1;
         for (int i = 0; i < s.rank(); ++i)
           if (i != at) (i < at ? outer : inner) *= static_cast<std::size_t>(s[i]);
         return updated_rows(c, x, whole_rows(x[1]), static_cast<std::size_t>(s[at]), inner, outer);
       },
       unwritten({"ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax"},
                 indices)},
      {{"ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto up_to = [](std::int64_t extent) { return static_cast<double>(extent); };
         return {{"elements", {{{m, n}, state}, {{4, 2}, index32, 0, up_to(std::min(m, n))}, {{4}}}},
                 {"rows", {{{m, n}, state}, {{2, 2, 1}, index64, 0, up_to(m)}, {{2, 2, n}}}},
                 {"none", {{{m, n}, state}, {{0, 1}, index32, 0, 1}, {{0, n}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape &s = c.inputs[0].shape(), &of = c.inputs[1].shape();
         const std::int64_t d = of[of.rank() - 1];
         std::vector<std::size_t> rows;
         for (std::size_t i = 0; i < x[1].size(); i += static_cast<std::size_t>(d)) {
           std::size_t row = 0;
           for (std::int64_t k = 0; k < d; ++k)
             row = row * static_cast<std::size_t>(s[static_cast<int>(k)]) +
                   static_cast<std::size_t>(x[1][i + static_cast<std::size_t>(k)]);
           rows.push_back(row);
         }
         std::size_t inner = 1;
         for (auto i = static_cast<int>(d); i < s.rank(); ++i) inner *= static_cast<std::size_t>(s[i]);
         return updated_rows(c, x, rows, 0, inner, 1);
       },
       unwritten({"ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub"}, of(dtype::int32, {2, 1}))},
  };
}

}  // namespace laws
