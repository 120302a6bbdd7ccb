// Other shapes and orders of the same elements.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> layout_rows() {
  using enum role;
  return {
      {{"Reshape"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"flat", {matrix}, plain({{"shape", shape{-1}}})},
                 {"cube", {{{2, m, 3}}}, plain({{"shape", shape{m, 6, 1}}})}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {{"Reshape", {f({2, 3})}, {{"shape", shape{4}}}, "do not fill"}}},
      {{"ReshapeLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {{{m * n}}, matrix}}, {"scalar", {{{1, 1}}, {{}}}}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {{"ReshapeLike", {f({2, 3}), f({5})}, {}, "do not fill"}}},
      {{"MergeAxes"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input cube{{2, m, n}};
         const auto at = [](std::int64_t axis) { return plain({{"axis", axis}}); };
         return {{"to the end", {cube}, at(1)},
                 {"none", {cube}, at(3)},
                 {"like", {cube, {{m, n}}}, at(-1)},
                 {"like a scalar", {cube, {{}}}, at(1)}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {{"MergeAxes", {f({2, 3})}, {{"axis", std::int64_t{3}}}, "no axes to merge at axis 3"},
        {"MergeAxes", {f({2, 3}), f({2, 2})}, {{"axis", std::int64_t{1}}}, "like [2, 2]"}}},
      {{"Transpose"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {matrix}},
                 {"rank 3", {{{2, m, 3}}}, plain({{"perm", integers{1, 2, 0}}})},
                 {"scalar", {{{}}}},
                 {"nothing", {{{0, 3}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto perm = op::transpose::permutation(c.attrs, s.rank());
         std::vector<ranged> y;
         for (std::int64_t e = 0; e < s.count(); ++e) {
           std::vector<std::int64_t> index(perm.size());
           std::int64_t rest = e, from = 0;
           for (std::size_t i = perm.size(); i-- > 0;) {
             const std::int64_t extent = s[static_cast<int>(perm[i])];
             index[static_cast<std::size_t>(perm[i])] = rest % extent;
             rest /= extent;
           }
           for (std::size_t i = 0; i < perm.size(); ++i) from = from * s[static_cast<int>(i)] + index[i];
           y.push_back({x[0][static_cast<std::size_t>(from)], 0});
         }
         return expectation{{y}};
       },
       {{"Transpose", {f({2, 3})}, {{"perm", integers{0, 0}}}, "is not an order"}}},
      {{"ExpandDims"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto at = [](std::int64_t axis) { return plain({{"axis", axis}}); };
         return {{"in front", {{{m, n}}}, at(0)},
                 {"behind", {{{m, n}}}, at(-1)},
                 {"between", {{{m, n}}}, at(1)},
                 {"scalar", {{{}}}, at(0)},
                 {"nothing", {{{0}}}, at(0)}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {{"ExpandDims", {f({2})}, {{"axis", std::int64_t{2}}}, "axis 2"}}},
      {{"Squeeze"},
       [](std::string_view, std::int64_t m, std::int64_t) -> std::vector<sample> {
         return {{"all", {{{1, m, 1}}}},
                 {"one", {{{1, m, 1}}}, plain({{"axes", integers{-1}}})},
                 {"none", {{{m, 2}}}},
                 {"nothing", {{{1, 0}}}, plain({{"axes", integers{0}}})}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {{"Squeeze", {f({2, 1})}, {{"axes", integers{0}}}, "is not of extent 1"}}},
  };
}

}  // namespace laws
