// Shapes, boxes, parts and multiples that are values of the run. Those of a sample are equal numbers or lie in a range.
#pragma once

#include <pinion/opkit/axes.hpp>

#include "laws/ops/slice.hpp"
#include "laws/ops/strided.hpp"

namespace laws {

// A vector of n numbers from `least` up to `most`.
inline input numbers_from(std::int64_t n, double least, double most, role of = role::index64) {
  return {{n}, of, least, most + 1};
}
inline input equal_numbers(std::int64_t n, std::int64_t number, role of = role::index64) {
  return numbers_from(n, static_cast<double>(number), static_cast<double>(number), of);
}
inline integers whole_numbers(const std::vector<double>& x) {
  return {x.begin(), x.end()};
}
inline any_tensor numbers_of(integers all) {
  any_tensor t(dtype::int64, {std::ssize(all)});
  std::copy(all.begin(), all.end(), t.data<std::int64_t>());
  return t;
}

// The elements of a tensor of shape s in its box at `begin` of extents `size`, row by row.
inline std::vector<std::size_t> boxed_elements(const shape& s, const integers& begin, integers size) {
  std::vector<std::size_t> elements{0};
  for (int axis = 0; axis < s.rank(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (size[k] < 0) size[k] = s[axis] - begin[k];
    std::vector<std::size_t> longer;
    for (const std::size_t e : elements)
      for (std::int64_t i = begin[k]; i < begin[k] + size[k]; ++i)
        longer.push_back(e * static_cast<std::size_t>(s[axis]) + static_cast<std::size_t>(i));
    elements = std::move(longer);
  }
  return elements;
}

// The attributes of a StridedSlice that a call has at its inputs 1 to 3.
inline attributes entries_of(const call& c, const tensors& x) {
  attributes all = c.attrs;
  all.set("begin", whole_numbers(x[1]));
  all.set("end", whole_numbers(x[2]));
  all.set("strides", whole_numbers(x[3]));
  return all;
}

// The element of x that element e of x tiled is a copy of.
inline std::size_t tiled_element(const shape& x, const std::vector<double>& multiples, std::int64_t e) {
  std::int64_t at = 0, stride = 1;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = x[axis] * static_cast<std::int64_t>(multiples[static_cast<std::size_t>(axis)]);
    at += e % extent % x[axis] * stride;
    e /= extent, stride *= x[axis];
  }
  return static_cast<std::size_t>(at);
}

inline expectation taken_of(const std::vector<double>& x, const std::vector<std::size_t>& elements) {
  std::vector<ranged> y;
  for (const std::size_t e : elements) y.push_back({x[e], 0});
  return {{y}};
}
inline expectation put_into(std::size_t count, const std::vector<double>& dy,
                            const std::vector<std::size_t>& elements) {
  std::vector<ranged> y(count);
  for (std::size_t i = 0; i < elements.size(); ++i) y[elements[i]].value = dy[i];
  return {{y}};
}

inline std::vector<row> dynamic_shape_rows() {
  using enum role;
  return {
      {{"DynamicReshape"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"flat", {{{m, n}}, equal_numbers(1, -1)}},
                 {"square", {{{m, 1, m}}, equal_numbers(2, m, index32)}},
                 {"scalar", {{{1, 1}}, equal_numbers(0, 0)}},
                 {"nothing", {{{0, n}}, equal_numbers(3, 0)}}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {{"DynamicReshape", {f({2, 3}), f({2})}, {}, "the shape of DynamicReshape is of float"},
        {"DynamicReshape", {f({2, 3}), of(dtype::int32, {2, 1})}, {}, "must have 1 dimensions"}}},
      {{"DynamicBroadcastTo"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"rows", {{{n}}, equal_numbers(2, n)}},
                 {"columns", {{{m, 1}}, equal_numbers(3, m, index32)}},
                 {"a scalar", {{{}}, equal_numbers(2, n)}},
                 {"as it is", {{{n, n}}, equal_numbers(2, n)}},
                 {"nothing", {{{1}}, equal_numbers(2, 0)}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape to(std::span<const std::int64_t>(whole_numbers(x[1])));
         std::vector<ranged> y(static_cast<std::size_t>(to.count()));
         for (std::size_t e = 0; e < y.size(); ++e)
           y[e].value = x[0][broadcast_index(to, c.inputs[0].shape(), static_cast<std::int64_t>(e))];
         return expectation{{y}};
       },
       {{"DynamicBroadcastTo", {f({2, 3}), d({2})}, {}, "the shape of DynamicBroadcastTo is of double"}}},
      {{"DynamicTile"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"twice or thrice", {{{m, n}}, numbers_from(2, 2, 3)}},
                 {"once", {{{m, n}}, equal_numbers(2, 1, index32)}},
                 {"never", {{{m, n}}, equal_numbers(2, 0)}},
                 {"scalar", {{{}}, equal_numbers(0, 0)}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         double count = 1;
         for (int i = 0; i < s.rank(); ++i) count *= static_cast<double>(s[i]) * x[1][static_cast<std::size_t>(i)];
         std::vector<ranged> y(static_cast<std::size_t>(count));
         for (std::size_t e = 0; e < y.size(); ++e)
           y[e].value = x[0][tiled_element(s, x[1], static_cast<std::int64_t>(e))];
         return expectation{{y}};
       },
       {{"DynamicTile", {f({2, 3}), numbers_of({2})}, {}, "1 multiples for a tensor of shape [2, 3]"},
        {"DynamicTile", {f({2, 3}), f({2})}, {}, "the multiples of DynamicTile is of float"}}},
      {{"DynamicTileGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"twice", {{{2 * m, 2 * n}}, equal_numbers(2, 2), {{m, n}}}},
                 {"scalar", {{{}}, equal_numbers(0, 0), {{}}}},
                 {"never", {{{0, 0}}, equal_numbers(2, 0, index32), {{m, n}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<double> sums(x[2].size()), sizes(x[2].size());
         for (std::size_t e = 0; e < x[0].size(); ++e) {
           const std::size_t at = tiled_element(c.inputs[2].shape(), x[1], static_cast<std::int64_t>(e));
           sums[at] += x[0][e], sizes[at] += std::abs(x[0][e]);
         }
         std::vector<ranged> y;
         for (std::size_t i = 0; i < sums.size(); ++i) y.push_back(rounded(c.inputs[0].dtype(), sums[i], sizes[i], 4));
         return expectation{{y}};
       },
       {{"DynamicTileGrad", {f({2}), numbers_of({1}), d({2})}, {}, "of float and double"},
        {"DynamicTileGrad", {f({2, 2}), numbers_of({1}), f({2})}, {}, "does not fit [2] tiled"}}},
      {{"DynamicRange"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto scalar = [](std::int64_t from, std::int64_t to) {
           return input{{}, number, static_cast<double>(from), static_cast<double>(to)};
         };
         return {{.note = "up", .inputs = {scalar(-3, 0), scalar(m, m * n), scalar(1, 2)}, .smooth = false},
                 {.note = "down", .inputs = {scalar(m, m * n), scalar(0, 2), scalar(-3, -1)}, .smooth = false},
                 {.note = "away", .inputs = {scalar(1, 2), scalar(5, 6), scalar(-2, -1)}, .smooth = false}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         if (!are_tame(x) || std::abs(x[2][0]) < 1e-3) return std::nullopt;
         std::vector<ranged> y;
         const double delta = x[2][0];
         const auto n = static_cast<std::int64_t>(std::ceil((x[1][0] - x[0][0]) / delta));
         for (std::int64_t i = 0; i < n; ++i)
           y.push_back(rounded(c.inputs[0].dtype(), x[0][0] + static_cast<double>(i) * delta,
                               std::abs(x[0][0]) + static_cast<double>(i) * std::abs(delta), 2));
         return expectation{{y}};
       },
       {{"DynamicRange", {f({1}), f({}), f({})}, {}, "an end or a step of a range must have 0 dimensions"},
        {"DynamicRange", {f({}), d({}), f({})}, {}, "of float and double"},
        {"DynamicRange", {of(dtype::uint8, {}), of(dtype::uint8, {}), of(dtype::uint8, {})}, {}, "a range of uint8"}}},
  };
}

inline std::vector<row> dynamic_box_rows() {
  using enum role;
  const any_tensor two = numbers_of({0, 0});
  return {
      {{"DynamicSlice"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"inside", {{{m, n}}, numbers_from(2, 0, 1), equal_numbers(2, 2, index32)}},
                 {"to the end", {{{2, m, n}}, equal_numbers(3, 1, index32), equal_numbers(3, -1, index32)}},
                 {"all", {{{m, n}}, equal_numbers(2, 0), equal_numbers(2, -1)}},
                 {"nothing", {{{m, n}}, equal_numbers(2, 1), equal_numbers(2, 0)}},
                 {"scalar", {{{}}, equal_numbers(0, 0), equal_numbers(0, 0)}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return taken_of(x[0], boxed_elements(c.inputs[0].shape(), whole_numbers(x[1]), whole_numbers(x[2])));
       },
       {{"DynamicSlice", {f({2, 3}), f({2}), two}, {}, "the begin of DynamicSlice is of float"},
        {"DynamicSlice", {f({2, 3}), two, numbers_of({1})}, {}, "1 sizes for a tensor of shape [2, 3]"},
        {"DynamicSlice", {f({2, 3}), of(dtype::int32, {1, 2}), two}, {}, "must have 1 dimensions"}}},
      {{"DynamicSliceGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"inside", {{{m - 1, 2}}, numbers_from(2, 0, 1), {{m, n}}}},
                 {"all", {{{m, n}}, equal_numbers(2, 0, index32), {{m, n}}}},
                 {"nothing", {{{0, 2}}, equal_numbers(2, 1), {{m, n}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& dy = c.inputs[0].shape();
         const integers size(dy.dims().begin(), dy.dims().end());
         return put_into(x[2].size(), x[0], boxed_elements(c.inputs[2].shape(), whole_numbers(x[1]), size));
       },
       {{"DynamicSliceGrad", {f({1, 1}), two, d({2, 3})}, {}, "of float and double"}}},
      {{"DynamicStridedSlice"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"every other", {{{m, n}}, numbers_from(2, 0, 1), equal_numbers(2, 100), equal_numbers(2, 2)}},
                 {"backwards", {{{m, n}}, equal_numbers(2, -1, index32), equal_numbers(2, 0), equal_numbers(2, -1)}},
                 {"one row",
                  {{{m, n}}, equal_numbers(1, 1), equal_numbers(1, 0), equal_numbers(1, 1)},
                  plain({{"shrink_axis_mask", std::int64_t{1}}})},
                 {"a new axis",
                  {{{m, n}}, equal_numbers(2, 1), equal_numbers(2, 3, index32), equal_numbers(2, 1)},
                  plain({{"new_axis_mask", std::int64_t{1}}})},
                 {"nothing", {{{m, n}}, equal_numbers(1, 2), equal_numbers(1, 1), equal_numbers(1, 1)}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return taken_of(x[0], sliced_elements(entries_of(c, x), c.inputs[0].shape()));
       },
       {{"DynamicStridedSlice", {f({2, 3}), two, f({2}), two}, {}, "the end of DynamicStridedSlice is of float"}}},
      {{"DynamicStridedSliceGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"backwards",
                  {{{m - 1, n - 1}}, equal_numbers(2, -1), equal_numbers(2, 0), equal_numbers(2, -1), {{m, n}}}},
                 {"one row",
                  {{{n}}, equal_numbers(1, 1), equal_numbers(1, 0), equal_numbers(1, 1, index32), {{m, n}}},
                  plain({{"shrink_axis_mask", std::int64_t{1}}})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return put_into(x[4].size(), x[0], sliced_elements(entries_of(c, x), c.inputs[4].shape()));
       },
       {{"DynamicStridedSliceGrad", {f({1, 1}), two, two, two, d({2, 3})}, {}, "of float and double"}}},
      {{"SplitV"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto into = [](std::int64_t parts, std::int64_t axis) {
           return plain({{"num_split", parts}, {"axis", axis}});
         };
         return {{"equal rows", {{{2 * m, n}}, equal_numbers(2, m)}, into(2, 0)},
                 {"equal columns", {{{m, 3 * n}}, equal_numbers(3, n, index32)}, into(3, -1)},
                 {"the rest", {{{m, n}}, equal_numbers(1, -1)}, into(1, 1)},
                 {"nothing", {{{0, n}}, equal_numbers(2, 0)}, into(2, 0)}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto k =
             static_cast<std::size_t>(s.rank() == 0 ? 0 : checked_axis(c.attrs.get<std::int64_t>("axis"), s.rank()));
         integers begin(static_cast<std::size_t>(s.rank())), size(begin.size(), -1);
         expectation all;
         for (const std::int64_t part : whole_numbers(x[1])) {
           size[k] = part < 0 ? s[static_cast<int>(k)] : part;
           all.outputs.push_back(taken_of(x[0], boxed_elements(s, begin, size)).outputs[0]);
           begin[k] += size[k];
         }
         return all;
       },
       {{"SplitV", {f({2, 3}), two}, {{"num_split", std::int64_t{3}}, {"axis", std::int64_t{0}}}, "into 3 parts has 2"},
        {"SplitV", {f({2, 3}), two}, {{"num_split", std::int64_t{2}}, {"axis", std::int64_t{2}}}, "axis 2"},
        {"SplitV", {f({2, 3}), f({2})}, {{"num_split", std::int64_t{2}}, {"axis", std::int64_t{0}}}, "is of float"}}},
  };
}

inline std::vector<row> dynamic_rows() {
  std::vector<row> all = dynamic_shape_rows();
  for (row& r : dynamic_box_rows()) all.push_back(std::move(r));
  return all;
}

}  // namespace laws
