// Bands of matrices.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> band_rows() {
  return {
      {{"MatrixBandPart"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const std::int64_t one = 1;
         return {{"all", {{{m, n}}}},
                 {"below", {{{m, n}}}, plain({{"highest", 0 * one}})},
                 {"above", {{{2, m, n}}}, plain({{"lowest", one}})},
                 {"between", {{{2, 1, n, m}}}, plain({{"lowest", -2 * one}, {"highest", one}})},
                 {"none", {{{m, n}}}, plain({{"lowest", one}, {"highest", 0 * one}})},
                 {"one beyond", {{{m, n}}}, plain({{"lowest", one << 56}, {"highest", one << 56}})},
                 {"no rows", {{{0, n}}}, plain({{"highest", 0 * one}})},
                 {"no columns", {{{m, 0}}}, plain({{"lowest", 0 * one}})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const std::int64_t m = s[s.rank() - 2], n = s[s.rank() - 1], far = std::int64_t{1} << 60;
         std::vector<ranged> y(x[0].size());
         for (std::size_t e = 0; e < y.size(); ++e) {
           const auto k = static_cast<std::int64_t>(e), diagonal = k % n - k / n % m;
           if (diagonal >= c.attrs.get_or("lowest", -far) && diagonal <= c.attrs.get_or("highest", far))
             y[e].value = x[0][e];
         }
         return expectation{{y}};
       },
       {{"MatrixBandPart", {f({3})}, {}, "not of a tensor of shape [3]"},
        {"MatrixBandPart", {f({})}, {{"lowest", std::int64_t{0}}}, "tensors of two axes or more"}}},
  };
}

}  // namespace laws
