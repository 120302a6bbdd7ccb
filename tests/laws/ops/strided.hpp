// Elements at equal distances.
#pragma once

#include "laws/ops/slice.hpp"

namespace laws {

// The attributes of a slice of n entries, whose masks are given in the order in which the op lists them.
inline attributes entries(integers begin, integers end, integers strides, std::vector<std::int64_t> masks = {}) {
  attributes a{{"begin", std::move(begin)}, {"end", std::move(end)}, {"strides", std::move(strides)}};
  const std::vector<std::string> names{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
  for (std::size_t i = 0; i < masks.size(); ++i)
    if (masks[i] != 0) a.set(names[i], masks[i]);
  return a;
}

// The indices of an axis of n elements that an entry takes, as Python counts them.
inline integers taken(const attributes& a, std::size_t entry, std::int64_t n) {
  const auto has = [&](const char* mask) { return (a.get_or(mask, std::int64_t{0}) >> entry & 1) != 0; };
  std::int64_t begin = a.get<integers>("begin")[entry], end = a.get<integers>("end")[entry];
  const std::int64_t step = a.get<integers>("strides")[entry];
  if (begin < 0) begin += n;
  if (has("shrink_axis_mask")) return {begin};
  if (end < 0) end += n;
  integers all;
  if (step > 0) {
    begin = has("begin_mask") ? 0 : std::max<std::int64_t>(begin, 0);
    end = has("end_mask") ? n : std::min(end, n);
    for (; begin < end; begin += step) all.push_back(begin);
  } else {
    begin = has("begin_mask") ? n - 1 : std::min(begin, n - 1);
    end = has("end_mask") ? -1 : std::max<std::int64_t>(end, -1);
    for (; begin > end; begin += step) all.push_back(begin);
  }
  return all;
}

// The elements of a tensor of shape s that a slice takes, in their order.
inline std::vector<std::size_t> sliced_elements(const attributes& a, const shape& s) {
  const auto bit = [&](const char* mask, std::size_t i) { return (a.get_or(mask, std::int64_t{0}) >> i & 1) != 0; };
  const std::size_t n = a.get<integers>("begin").size();
  int named = 0;
  for (std::size_t i = 0; i < n; ++i) named += !bit("ellipsis_mask", i) && !bit("new_axis_mask", i);
  std::vector<integers> of_axes;
  const auto all_of = [&](std::int64_t extent) {
    integers all;
    for (std::int64_t k = 0; k < extent; ++k) all.push_back(k);
    return all;
  };
  for (std::size_t i = 0; i < n; ++i)
    if (bit("ellipsis_mask", i))
      for (int k = named; k < s.rank(); ++k) of_axes.push_back(all_of(s[static_cast<int>(of_axes.size())]));
    else if (!bit("new_axis_mask", i))
      of_axes.push_back(taken(a, i, s[static_cast<int>(of_axes.size())]));
  while (static_cast<int>(of_axes.size()) < s.rank()) of_axes.push_back(all_of(s[static_cast<int>(of_axes.size())]));
  std::vector<std::size_t> elements{0};
  for (int axis = 0; axis < s.rank(); ++axis) {
    std::vector<std::size_t> longer;
    for (const std::size_t e : elements)
      for (const std::int64_t k : of_axes[static_cast<std::size_t>(axis)])
        longer.push_back(e * static_cast<std::size_t>(s[axis]) + static_cast<std::size_t>(k));
    elements = std::move(longer);
  }
  return elements;
}

// Slices by name: the shape of x, the shape of the slice, and the entries.
struct strided_sample {
  std::string note;
  shape x, y;
  attributes attrs;
};
inline std::vector<strided_sample> strided_samples(std::int64_t m, std::int64_t n) {
  return {{"every other", {m, n}, {m, (n + 1) / 2}, entries({0, 0}, {m, n}, {1, 2})},
          {"backwards", {m, n}, {m, n}, entries({0, 0}, {0, 0}, {-1, -1}, {3, 3})},
          {"rows backwards", {m, n}, {m, n}, entries({-1}, {0}, {-1}, {0, 1})},
          {"inside", {m, n}, {m - 2, 2}, entries({1, -3}, {-1, -1}, {1, 1})},
          {"one row", {m, n}, {n}, entries({-1}, {0}, {1}, {0, 0, 0, 0, 1})},
          {"one column", {m, n}, {m, 1}, entries({0, 0, -1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 1, 2, 4})},
          {"around an ellipsis", {2, m, 2, 3}, {m, 2, 2}, entries({1, 0, 3}, {2, 0, 0}, {1, 1, -2}, {0, 4, 2, 0, 1})},
          {"new axes alone", {m, n}, {1, m, 1, n}, entries({0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {2, 2, 0, 5})},
          {"far beyond the edges", {3 * n}, {3 * n}, entries({-1000000}, {1000000}, {1})},
          {"steps in the middle", {2, m, 3}, {2, (m + 2) / 3, 3}, entries({0, 0}, {2, m}, {1, 3})},
          {"scalar", {}, {}, entries({}, {}, {})},
          {"nothing taken", {m, n}, {0, n}, entries({2}, {1}, {1})},
          {"of nothing", {0, n}, {0, n}, entries({0}, {0}, {-1}, {1, 1})}};
}

inline attributes axes_alone(integers axes) {
  return {{"axes", std::move(axes)}};
}
inline attributes rolled(integers shifts, integers axes) {
  return {{"shifts", std::move(shifts)}, {"axes", std::move(axes)}};
}

inline std::vector<row> strided_rows() {
  // Misfits of both ops of slices, whose inputs are these.
  const auto bad_entries = [](std::string_view op, const std::vector<any_tensor>& of) -> std::vector<misfit> {
    return {{op, of, entries({0, 0}, {1}, {1, 1}), "2 beginnings, 1 ends and 2 strides"},
            {op, of, entries({0}, {1}, {0}), "entry 0 of a slice has stride 0"},
            {op, of, entries({0}, {1}, {1}, {2}), "begin_mask 2 of a slice with 1 entries has bits beyond"},
            {op, of, entries({0}, {1}, {1}, {0, 0, 0, 0, 2}), "shrink_axis_mask 2 of a slice"},
            {op, of, entries({0, 0}, {1, 1}, {1, 1}, {0, 0, 3}), "a slice with 2 ellipses"},
            {op, of, entries({0, 0, 0}, {1, 1, 1}, {1, 1, 1}), "takes 3 axes of a tensor of shape [2, 3]"},
            {op, of, entries({0}, {0}, {-1}, {0, 0, 0, 0, 1}), "entry 0 of a slice is an index"},
            {op, of, entries({0, 3}, {1, 4}, {1, 1}, {0, 0, 0, 0, 2}), "index 3 along axis 1 of a tensor of shape"},
            {op, of, entries({-3}, {0}, {1}, {0, 0, 0, 0, 1}), "indices are in [-2, 2)"}};
  };
  std::vector<misfit> bad_gradients = bad_entries("StridedSliceGrad", {f({1, 3}), f({2, 3})});
  bad_gradients.push_back(
      {"StridedSliceGrad", {f({2, 3}), f({2, 3})}, entries({0}, {1}, {1}), "does not fit a slice of shape [1, 3]"});
  bad_gradients.push_back({"StridedSliceGrad", {f({1, 3}), d({2, 3})}, entries({0}, {1}, {1}), "pn::cast converts"});
  return {
      {{"StridedSlice"},
       [](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const strided_sample& s : strided_samples(m, n)) all.push_back({s.note, {{s.x}}, plain(s.attrs)});
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (const std::size_t e : sliced_elements(c.attrs, c.inputs[0].shape())) y.push_back({x[0][e], 0});
         return expectation{{y}};
       },
       bad_entries("StridedSlice", {f({2, 3})})},
      {{"StridedSliceGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const strided_sample& s : strided_samples(m, n)) all.push_back({s.note, {{s.y}, {s.x}}, plain(s.attrs)});
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y(x[1].size());
         std::size_t next = 0;
         for (const std::size_t e : sliced_elements(c.attrs, c.inputs[1].shape())) y[e].value = x[0][next++];
         return expectation{{y}};
       },
       bad_gradients},
      {{"ReverseV2"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"rows", {{{m, n}}}, plain(axes_alone({0}))},
                 {"columns", {{{m, n}}}, plain(axes_alone({-1}))},
                 {"around the middle", {{{2, m, 3}}}, plain(axes_alone({2, 0}))},
                 {"no axis", {{{m, n}}}, plain(axes_alone({}))},
                 {"scalar", {{{}}}, plain(axes_alone({}))},
                 {"nothing", {{{m, 0}}}, plain(axes_alone({0, 1}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         std::vector<ranged> y(x[0].size());
         for_each_index(s, [&](auto at, std::size_t e) {
           for (const std::int64_t axis : c.attrs.get<integers>("axes")) {
             const auto k = static_cast<std::size_t>(axis < 0 ? axis + s.rank() : axis);
             at[k] = s[static_cast<int>(k)] - 1 - at[k];
           }
           y[*element_at(s, at)].value = x[0][e];
         });
         return expectation{{y}};
       },
       {{"ReverseV2", {f({2, 3})}, axes_alone({2}), "axis 2"},
        {"ReverseV2", {f({2, 3})}, axes_alone({1, -1}), "axis 1 of a tensor of shape [2, 3] is turned round twice"}}},
      {{"Roll"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"rows", {{{m, n}}}, plain(rolled({1}, {0}))},
                 {"columns", {{{m, n}}}, plain(rolled({-2}, {-1}))},
                 {"both", {{{m, n}}}, plain(rolled({-m - 1, 3 * n + 1}, {0, 1}))},
                 {"around the middle", {{{3, m, 3}}}, plain(rolled({1, 1}, {0, 2}))},
                 {"one axis twice", {{{3 * n}}}, plain(rolled({1, 3}, {0, -1}))},
                 {"all the way", {{{m, n}}}, plain(rolled({m}, {0}))},
                 {"scalar", {{{}}}, plain(rolled({}, {}))},
                 {"nothing", {{{m, 0}}}, plain(rolled({1, 1}, {0, 1}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto &shifts = c.attrs.get<integers>("shifts"), &axes = c.attrs.get<integers>("axes");
         std::vector<ranged> y(x[0].size());
         for_each_index(s, [&](auto at, std::size_t e) {
           for (std::size_t i = 0; i < axes.size(); ++i) {
             const auto k = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + s.rank() : axes[i]);
             const std::int64_t extent = s[static_cast<int>(k)];
             at[k] = ((at[k] + shifts[i]) % extent + extent) % extent;
           }
           y[*element_at(s, at)].value = x[0][e];
         });
         return expectation{{y}};
       },
       {{"Roll", {f({2, 3})}, rolled({1}, {2}), "axis 2"},
        {"Roll", {f({2, 3})}, rolled({1, 2}, {0}), "Roll has 2 shifts for 1 axes"}}},
      {{"BroadcastTo"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto to = [](const shape& s) { return plain({{"shape", s}}); };
         return {{"rows", {{{n}}}, to({m, n})},
                 {"columns", {{{m, 1}}}, to({m, n})},
                 {"both", {{{1, m, 1}}}, to({3, 2, m, n})},
                 {"a scalar", {{{}}}, to({m, n})},
                 {"as it is", {{{m, n}}}, to({m, n})},
                 {"nothing", {{{1, n}}}, to({0, n})},
                 {"of nothing", {{{0, 1}}}, to({2, 0, n})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const auto& to = c.attrs.get<shape>("shape");
         std::vector<ranged> y(static_cast<std::size_t>(to.count()));
         for (std::size_t e = 0; e < y.size(); ++e)
           y[e].value = x[0][broadcast_index(to, c.inputs[0].shape(), static_cast<std::int64_t>(e))];
         return expectation{{y}};
       },
       {{"BroadcastTo", {f({2, 3})}, {{"shape", shape{2, 4}}}, "of shape [2, 3] does not broadcast to [2, 4]"},
        {"BroadcastTo", {f({1, 3})}, {{"shape", shape{3}}}, "of shape [1, 3] does not broadcast to [3]"},
        {"BroadcastTo", {f({3})}, {{"shape", shape{unknown, 3}}}, "a shape of known extents, not [?, 3]"},
        {"BroadcastTo", {f({3})}, {{"shape", shape::any()}}, "a shape of known extents"},
        {"BroadcastTo", {f({})}, {{"shape", shape{std::int64_t{1} << 40, 1 << 20}}}, "no memory holds"}}},
  };
}

}  // namespace laws
