// Boxes of tensors.
#pragma once

#include "laws/row.hpp"

namespace laws {

// Calls f(index, element) for every element of a shape, row by row.
template <class F>
void for_each_index(const shape& s, F&& f) {
  for (std::int64_t e = 0; e < s.count(); ++e) {
    std::vector<std::int64_t> at(static_cast<std::size_t>(s.rank()));
    std::int64_t rest = e;
    for (int i = s.rank(); i-- > 0; rest /= s[i]) at[static_cast<std::size_t>(i)] = rest % s[i];
    f(at, static_cast<std::size_t>(e));
  }
}
// The element at an index, which may lie outside: then there is none.
inline std::optional<std::size_t> element_at(const shape& s, const std::vector<std::int64_t>& at) {
  std::int64_t e = 0;
  for (int i = 0; i < s.rank(); ++i) {
    const std::int64_t k = at[static_cast<std::size_t>(i)];
    if (k < 0 || k >= s[i]) return std::nullopt;
    e = e * s[i] + k;
  }
  return static_cast<std::size_t>(e);
}
inline std::vector<std::int64_t> moved(std::vector<std::int64_t> at, const integers& by, std::int64_t sign) {
  for (std::size_t i = 0; i < at.size(); ++i) at[i] += sign * by[i];
  return at;
}

// The box of x from `begin` on, of that shape; `around` where it leaves x.
inline std::vector<ranged> box(const std::vector<double>& x, const shape& from, const integers& begin,
                               std::int64_t sign, const shape& to, double around = 0) {
  std::vector<ranged> y;
  for_each_index(to, [&](const auto& at, std::size_t) {
    const auto e = element_at(from, moved(at, begin, sign));
    y.push_back({e ? x[*e] : around, 0});
  });
  return y;
}

inline attributes with_begin(integers begin) {
  return {{"begin", std::move(begin)}};
}
inline attributes with_axis(std::int64_t axis) {
  return {{"axis", axis}};
}

// The element of an axis of n that stands at place i before, in or behind it, where a mode repeats elements.
inline std::int64_t repeated(const std::string& mode, std::int64_t i, std::int64_t n) {
  if (mode == "EDGE") return std::clamp<std::int64_t>(i, 0, n - 1);
  while (i < 0 || i >= n) {  // to and fro between the edges
    const std::int64_t again = mode == "SYMMETRIC" ? 1 : 0;
    i = i < 0 ? -again - i : 2 * n - 2 + again - i;
  }
  return i;
}
// For each element of a padded tensor the element of x that it repeats.
inline std::vector<std::size_t> repeated_elements(const attributes& a, const shape& x) {
  const auto &before = a.get<integers>("before"), &after = a.get<integers>("after");
  shape to;
  for (std::size_t k = 0; k < before.size(); ++k) to.push_back(before[k] + x[static_cast<int>(k)] + after[k]);
  std::vector<std::size_t> all;
  for_each_index(to, [&](auto at, std::size_t) {
    for (std::size_t k = 0; k < at.size(); ++k)
      at[k] = repeated(a.get<std::string>("mode"), at[k] - before[k], x[static_cast<int>(k)]);
    all.push_back(*element_at(x, at));
  });
  return all;
}
inline attributes mirror(std::string mode, integers before, integers after) {
  return {{"before", std::move(before)}, {"after", std::move(after)}, {"mode", std::move(mode)}};
}
struct mirror_sample {
  std::string note;
  shape x;
  attributes attrs;
};
inline std::vector<mirror_sample> mirror_samples(std::int64_t m, std::int64_t n) {
  return {{"reflected", {m, n}, mirror("REFLECT", {1, 2}, {0, n - 1})},
          {"symmetric", {m, n}, mirror("SYMMETRIC", {m, 0}, {1, n})},
          {"edges", {m, n}, mirror("EDGE", {1, 2}, {3, n + 2})},
          {"reflected in the middle", {2, m, 3}, mirror("REFLECT", {1, m - 1, 0}, {1, 2, 2})},
          {"edges of one", {1, m, 1}, mirror("EDGE", {2, 0, 1}, {0, 2, 3})},
          {"not at all", {m, n}, mirror("SYMMETRIC", {0, 0}, {0, 0})},
          {"scalar", {}, mirror("REFLECT", {}, {})},
          {"nothing", {0, 2}, mirror("SYMMETRIC", {0, 1}, {0, 1})}};
}

inline std::vector<row> slice_rows() {
  // Misfits of paddings that repeat elements, and of their gradients, whose inputs are these.
  const auto bad_mirrors = [](std::string_view op, const std::vector<any_tensor>& of) -> std::vector<misfit> {
    return {{op, of, mirror("WRAP", {0, 0}, {0, 0}), "by mode 'WRAP'; modes are REFLECT"},
            {op, of, mirror("REFLECT", {2, 0}, {0, 0}), "a padding of 2 elements by mode REFLECT along axis 0"},
            {op, of, mirror("SYMMETRIC", {0, 0}, {0, 4}), "by mode SYMMETRIC along axis 1"},
            {op, of, mirror("EDGE", {1}, {1}), "one for each axis"},
            {op, of, mirror("EDGE", {1, 1}, {1}), "other numbers of paddings"},
            {op, of, mirror("EDGE", {-1, 1}, {1, 1}), "a padding of -1 elements"}};
  };
  auto bad_mirror_pads = bad_mirrors("MirrorPad", {f({2, 3})});
  bad_mirror_pads.push_back({"MirrorPad", {f({0})}, mirror("EDGE", {1}, {0}), "too few to repeat"});
  auto bad_mirror_gradients = bad_mirrors("MirrorPadGrad", {f({2, 3}), f({2, 3})});
  bad_mirror_gradients.push_back({"MirrorPadGrad", {f({3}), f({2})}, mirror("EDGE", {1}, {1}), "does not fit"});
  bad_mirror_gradients.push_back(
      {"MirrorPadGrad", {i({4}), i({2})}, mirror("EDGE", {1}, {1}), "MirrorPadGrad of int32"});
  bad_mirror_gradients.push_back({"MirrorPadGrad", {f({4}), d({2})}, mirror("EDGE", {1}, {1}), "pn::cast converts"});
  const auto parts_of = [](const call& c, const tensors& x, const std::vector<shape>& parts) {
    const shape& whole = c.inputs[0].shape();
    const auto axis = static_cast<std::size_t>((c.attrs.get<std::int64_t>("axis") + whole.rank()) % whole.rank());
    integers begin(static_cast<std::size_t>(whole.rank()), 0);
    expectation all;
    for (const shape& part : parts) {
      all.outputs.push_back(box(x[0], whole, begin, 1, part));
      begin[axis] += part[static_cast<int>(axis)];
    }
    return all;
  };
  return {
      {{"ConcatV2"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"rows", {{{m, n}}, {{2, n}}, {{0, n}}}, plain(with_axis(0))},
                 {"columns", {{{m, n}}, {{m, 3}}}, plain(with_axis(-1))},
                 {"in the middle", {{{2, m, 3}}, {{2, 1, 3}}}, plain(with_axis(1))},
                 {"one", {{{n}}}, plain(with_axis(0))},
                 {"nothing", {{{0, 3}}, {{0, 2}}}, plain(with_axis(1))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& first = c.inputs[0].shape();
         const auto axis = static_cast<std::size_t>((c.attrs.get<std::int64_t>("axis") + first.rank()) % first.rank());
         shape whole = first;
         for (std::size_t k = 1; k < x.size(); ++k)
           whole.set(static_cast<int>(axis),
                     whole[static_cast<int>(axis)] + c.inputs[k].shape()[static_cast<int>(axis)]);
         std::vector<ranged> y(static_cast<std::size_t>(whole.count()));
         std::int64_t before = 0;
         for (std::size_t k = 0; k < x.size(); ++k) {
           for_each_index(c.inputs[k].shape(), [&](auto at, std::size_t e) {
             at[axis] += before;
             y[*element_at(whole, at)].value = x[k][e];
           });
           before += c.inputs[k].shape()[static_cast<int>(axis)];
         }
         return expectation{{y}};
       },
       {{"ConcatV2", {f({2, 3}), f({2, 4})}, with_axis(0), "differ in more than axis 0"},
        {"ConcatV2", {f({2, 3}), d({2, 3})}, with_axis(0), "pn::cast"},
        {"ConcatV2", {f({2, 3})}, with_axis(2), "axis 2"},
        {"ConcatV2", {}, with_axis(0), "takes at least 1 input, not 0"}}},
      {{"SplitLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"rows", {{{m + 2, n}}, {{m, n}}, {{2, n}}}, plain(with_axis(0))},
                 {"columns", {{{m, n + 3}}, {{m, n}}, {{m, 0}}, {{m, 3}}}, plain(with_axis(-1))},
                 {"nothing", {{{0, 3}}, {{0, 2}}, {{0, 1}}}, plain(with_axis(1))}};
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<shape> parts;
         for (std::size_t i = 1; i < x.size(); ++i) parts.push_back(c.inputs[i].shape());
         return parts_of(c, x, parts);
       },
       {{"SplitLike", {f({5, 3}), f({2, 3}), f({2, 3})}, with_axis(0), "is not made of parts"},
        {"SplitLike", {f({4, 3}), f({2, 3}), d({2, 3})}, with_axis(0), "pn::cast"}}},
      {{"Split"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto into = [](std::int64_t axis, std::int64_t parts) {
           return plain({{"axis", axis}, {"parts", parts}});
         };
         return {{"rows", {{{3 * m, n}}}, into(0, 3)},
                 {"columns", {{{m, 2 * n}}}, into(-1, 2)},
                 {"one", {{{n}}}, into(0, 1)},
                 {"nothing", {{{4, 0}}}, into(0, 2)}};
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         const auto parts = c.attrs.get<std::int64_t>("parts");
         shape part = c.inputs[0].shape();
         const auto axis = static_cast<int>((c.attrs.get<std::int64_t>("axis") + part.rank()) % part.rank());
         part.set(axis, part[axis] / parts);
         return parts_of(c, x, std::vector<shape>(static_cast<std::size_t>(parts), part));
       },
       {{"Split", {f({5, 3})}, {{"axis", std::int64_t{0}}, {"parts", std::int64_t{2}}}, "into 2 equal parts"},
        {"Split", {f({5, 3})}, {{"axis", std::int64_t{3}}, {"parts", std::int64_t{1}}}, "axis 3"},
        {"Split", {f({5, 3})}, {{"axis", std::int64_t{0}}, {"parts", std::int64_t{0}}}, "is not cut into 0 parts"}}},
      {{"Slice"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto at = [](integers begin, integers size) {
           return plain({{"begin", std::move(begin)}, {"size", std::move(size)}});
         };
         return {{"inside", {{{m, n}}}, at({1, 1}, {m - 2, 2})},
                 {"to the end", {{{m, n}}}, at({1, 0}, {-1, -1})},
                 {"all", {{{m, n}}}, at({0, 0}, {-1, -1})},
                 {"rank 3", {{{2, m, 3}}}, at({0, 1, 1}, {2, 1, 2})},
                 {"scalar", {{{}}}, at({}, {})},
                 {"nothing", {{{m, n}}}, at({m, 0}, {0, n})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto &begin = c.attrs.get<integers>("begin"), &size = c.attrs.get<integers>("size");
         shape to;
         for (std::size_t k = 0; k < size.size(); ++k)
           to.push_back(size[k] < 0 ? s[static_cast<int>(k)] - begin[k] : size[k]);
         return expectation{{box(x[0], s, begin, 1, to)}};
       },
       {{"Slice",
         {f({2, 3})},
         {{"begin", integers{1, 0}}, {"size", integers{2, 1}}},
         "a slice of 2 from 1 on along axis 0"},
        {"Slice", {f({2, 3})}, {{"begin", integers{-1, 0}}, {"size", integers{1, 1}}}, "from -1 on"},
        {"Slice", {f({2, 3})}, {{"begin", integers{0}}, {"size", integers{1}}}, "one for each axis"}}},
      {{"SliceLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"inside", {{{m, n}}, {{2, 2}}}, plain(with_begin({1, 1}))},
                 {"all", {{{m, n}}, {{m, n}}}, plain(with_begin({0, 0}))},
                 {"nothing", {{{m, n}}, {{0, n}}}, plain(with_begin({m, 0}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{{box(x[0], c.inputs[0].shape(), c.attrs.get<integers>("begin"), 1, c.inputs[1].shape())}};
       },
       {{"SliceLike", {f({2, 3}), f({2, 3})}, with_begin({0, 1}), "along axis 1"},
        {"SliceLike", {f({2, 3}), f({2})}, with_begin({0, 1}), "they need the same rank"}}},
      {{"PadLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"inside", {{{2, 2}}, {{m, n}}}, plain(with_begin({1, 1}))},
                 {"all", {{{m, n}}, {{m, n}}}, plain(with_begin({0, 0}))},
                 {"nothing", {{{0, n}}, {{m, n}}}, plain(with_begin({m, 0}))}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{{box(x[0], c.inputs[0].shape(), c.attrs.get<integers>("begin"), -1, c.inputs[1].shape())}};
       },
       {{"PadLike", {f({2, 3}), f({2, 3})}, with_begin({0, 1}), "along axis 1"}}},
      {{"Pad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto by = [](integers before, integers after, double value = 0) {
           return plain({{"before", std::move(before)}, {"after", std::move(after)}, {"value", value}});
         };
         return {{"around", {{{m, n}}}, by({1, 2}, {0, 3})},
                 {"with ones", {{{m, n}}}, by({1, 0}, {1, 0}, 1)},
                 {"not at all", {{{m, n}}}, by({0, 0}, {0, 0})},
                 {"nothing", {{{0, 2}}}, by({1, 0}, {0, 1})},
                 {"scalar", {{{}}}, by({}, {})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         const auto &before = c.attrs.get<integers>("before"), &after = c.attrs.get<integers>("after");
         shape to;
         for (std::size_t k = 0; k < before.size(); ++k) to.push_back(before[k] + s[static_cast<int>(k)] + after[k]);
         return expectation{{box(x[0], s, before, -1, to, c.attrs.get<double>("value"))}};
       },
       {{"Pad", {f({2})}, {{"before", integers{-1}}, {"after", integers{0}}}, "pn::slice cuts off"},
        {"Pad", {f({2})}, {{"before", integers{1, 1}}, {"after", integers{0, 0}}}, "one for each axis"},
        {"Pad", {i({2})}, {{"before", integers{1}}, {"after", integers{0}}, {"value", 3e18}}, "which no int32 holds"},
        {"Pad", {i({2})}, {{"before", integers{1}}, {"after", integers{0}}, {"value", NAN}}, "which no int32 holds"},
        {"Pad",
         {of(dtype::int8, {2})},
         {{"before", integers{1}}, {"after", integers{0}}, {"value", 128.}},
         "which no int8 holds"},
        {"Pad",
         {of(dtype::uint64, {2})},
         {{"before", integers{1}}, {"after", integers{0}}, {"value", -1.}},
         "which no uint64 holds"},
        {"Pad",
         {f({2})},
         {{"before", integers{std::int64_t{1} << 60}}, {"after", integers{std::int64_t{1} << 60}}},
         "a padding of"},
        {"Pad", {text({2})}, {{"before", integers{1}}, {"after", integers{0}}}, "Pad of string"}}},
      {{"MirrorPad"},
       [](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const mirror_sample& s : mirror_samples(m, n)) all.push_back({s.note, {{s.x}}, plain(s.attrs)});
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (const std::size_t e : repeated_elements(c.attrs, c.inputs[0].shape())) y.push_back({x[0][e], 0});
         return expectation{{y}};
       },
       bad_mirror_pads},
      {{"MirrorPadGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const mirror_sample& s : mirror_samples(m, n)) {
           const auto &before = s.attrs.get<integers>("before"), &after = s.attrs.get<integers>("after");
           shape y;
           for (std::size_t k = 0; k < before.size(); ++k) y.push_back(before[k] + s.x[static_cast<int>(k)] + after[k]);
           all.push_back({s.note, {{y}, {s.x}}, plain(s.attrs)});
         }
         return all;
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y(x[1].size());
         std::vector<double> sizes(y.size());
         std::vector<int> terms(y.size());
         std::size_t next = 0;
         for (const std::size_t e : repeated_elements(c.attrs, c.inputs[1].shape())) {
           y[e].value += x[0][next], sizes[e] += std::abs(x[0][next]), ++terms[e], ++next;
         }
         for (std::size_t e = 0; e < y.size(); ++e) y[e] = rounded(c.inputs[0].dtype(), y[e].value, sizes[e], terms[e]);
         return expectation{{y}};
       },
       bad_mirror_gradients},
      {{"Tile"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto by = [](integers multiples) { return plain({{"multiples", std::move(multiples)}}); };
         return {{"both ways", {{{m, n}}}, by({2, 3})},
                 {"below", {{{m, n}}}, by({2, 1})},
                 {"once", {{{m, n}}}, by({1, 1})},
                 {"rank 3", {{{2, m, 3}}}, by({1, 2, 2})},
                 {"scalar", {{{}}}, by({})},
                 {"to nothing", {{{m, n}}}, by({0, 1})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[0].shape();
         shape to;
         for (int k = 0; k < s.rank(); ++k)
           to.push_back(s[k] * c.attrs.get<integers>("multiples")[static_cast<std::size_t>(k)]);
         std::vector<ranged> y;
         for_each_index(to, [&](auto at, std::size_t) {
           for (std::size_t k = 0; k < at.size(); ++k) at[k] %= s[static_cast<int>(k)];
           y.push_back({x[0][*element_at(s, at)], 0});
         });
         return expectation{{y}};
       },
       {{"Tile", {f({2, 3})}, {{"multiples", integers{2}}}, "one for each axis"},
        {"Tile", {f({2})}, {{"multiples", integers{-1}}}, "not repeated -1 times"}}},
      {{"TileGrad"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto by = [](integers multiples) { return plain({{"multiples", std::move(multiples)}}); };
         return {{"both ways", {{{2 * m, 3 * n}}, {{m, n}}}, by({2, 3})},
                 {"scalar", {{{}}, {{}}}, by({})},
                 {"of nothing", {{{0, n}}, {{m, n}}}, by({0, 1})}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape& s = c.inputs[1].shape();
         std::vector<ranged> y(x[1].size());
         for_each_index(c.inputs[0].shape(), [&](auto at, std::size_t e) {
           for (std::size_t k = 0; k < at.size(); ++k) at[k] %= s[static_cast<int>(k)];
           ranged& to = y[*element_at(s, at)];
           to.value += x[0][e];
           to.slack += 8 * spacing(c.inputs[0].dtype(), std::abs(x[0][e]));
         });
         return expectation{{y}};
       },
       {{"TileGrad", {f({3}), f({2})}, {{"multiples", integers{2}}}, "does not fit"},
        {"TileGrad", {i({4}), i({2})}, {{"multiples", integers{2}}}, "TileGrad of int32"}}},
  };
}

}  // namespace laws
