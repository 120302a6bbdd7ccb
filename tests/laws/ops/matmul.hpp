// Products of matrices.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> matmul_rows() {
  using enum role;
  return {
      {{"MatMul"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         std::vector<sample> all;
         const std::int64_t k = 6;
         for (bool ta : {false, true})
           for (bool tb : {false, true})
             all.push_back({std::string(ta ? "left" : "") + (tb ? "right" : "") + " turned",
                            {{ta ? shape{k, m} : shape{m, k}}, {tb ? shape{n, k} : shape{k, n}}},
                            plain({{"transpose_a", ta}, {"transpose_b", tb}})});
         all.push_back({"no columns", {{{m, 3}}, {{3, 0}}}});
         all.push_back({"nothing inside", {{{m, 0}}, {{0, n}}}});
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const bool ta = c.attrs.get_or("transpose_a", false), tb = c.attrs.get_or("transpose_b", false);
         const shape &a = c.inputs[0].shape(), &b = c.inputs[1].shape();
         const auto m = a[ta ? 1 : 0], k = a[ta ? 0 : 1], n = b[tb ? 0 : 1];
         std::vector<ranged> y;
         for (std::int64_t i = 0; i < m; ++i)
           for (std::int64_t j = 0; j < n; ++j) {
             double sum = 0, magnitude = 0;
             for (std::int64_t l = 0; l < k; ++l) {
               const double term = x[0][static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                                   x[1][static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
               sum += term, magnitude += std::abs(term);
             }
             y.push_back(rounded(c.inputs[0].dtype(), sum, magnitude, static_cast<double>(k) + 1));
           }
         return expectation{{y}};
       },
       {{"MatMul", {f({2, 3}), f({2, 3})}, {}, "the inner dimensions 3 and 2 differ"},
        {"MatMul", {f({2, 3}), d({3, 2})}, {}, "matmul of float and double"},
        {"MatMul", {f({2}), f({2, 3})}, {}, "2 dimensions"}}},
  };
}

}  // namespace laws
