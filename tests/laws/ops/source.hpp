// Sources: constants, placeholders, zeros and ones; and what only passes on.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> source_rows() {
  using enum role;
  return {
      {{"Const"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"matrix", {}, [=](dtype d) {
                    any_tensor t(d, {m, n});
                    if (d != dtype::string)
                      for (std::size_t i = 0; i < t.bytes(); ++i) t.byte_data()[i] = std::byte(i % 2);
                    else if (t.count() > 1)
                      t.data<std::string>()[1] = "text";
                    return attributes{{"value", t}};
                  }}};
       },
       [](const call& c, const tensors&) -> std::optional<expectation> {
         const auto& value = c.attrs.get<any_tensor>("value");
         return expectation{{value.dtype() == dtype::string ? std::vector<ranged>{} : exactly(numbers(value))}};
       },
       {},
       true},
      {{"Fill"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto of = [](const shape& extent) {
           return [=](dtype d) {
             any_tensor one(d, {});
             if (d != dtype::string) std::fill_n(one.byte_data(), one.bytes(), std::byte{1});
             return attributes{{"value", one}, {"shape", extent}};
           };
         };
         return {{"matrix", {}, of({m, n})}, {"nothing", {}, of({0, 3})}, {"scalar", {}, of({})}};
       },
       [](const call& c, const tensors&) -> std::optional<expectation> {
         const auto one = exactly(numbers(c.attrs.get<any_tensor>("value")));
         const auto n = static_cast<std::size_t>(c.attrs.get<shape>("shape").count());
         return expectation{{std::vector<ranged>(n, one[0])}};
       },
       {{"Fill", {}, {{"value", tensor<float>({2}).untyped()}, {"shape", shape{3}}}, "one number, not of float [2]"},
        {"Fill", {}, {{"value", tensor<float>(1.f).untyped()}, {"shape", shape{unknown}}}, "[?] is not"},
        {"Fill",
         {},
         {{"value", tensor<float>(1.f).untyped()}, {"shape", shape{1 << 30, 1 << 30, 1 << 30}}},
         "that no memory holds"}}},
      {{"Placeholder"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"matrix", {}, typed({m, n})}};
       },
       nullptr,
       {},
       true},
      {{"Identity"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {matrix}}, {"nothing", {{{0}}}}, {"variable", {{{m}, state}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         if (!c.is_state.empty() && c.is_state[0]) return expectation{{exactly(x[0]), exactly(x[0])}};
         return expectation{{exactly(x[0])}};
       },
       {},
       true},
      {{"StopGradient"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{.note = "matrix", .inputs = {{{m, n}}}, .smooth = false}, {"nothing", {{{0}}}}};
       },
       [](const call&, const tensors& x) -> std::optional<expectation> { return expectation{{exactly(x[0])}}; },
       {},
       true},
      {{"ZerosLike", "OnesLike"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const input matrix{{m, n}};
         return {{"matrix", {matrix}}, {"nothing", {{{0, 3}}}}, {"scalar", {{{}}}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         return expectation{{std::vector<ranged>(x[0].size(), {c.op == "OnesLike" ? 1.0 : 0.0, 0})}};
       },
       {},
       true},
      {{"NoOp"},
       [](std::string_view, std::int64_t, std::int64_t) -> std::vector<sample> {
         return {{"", {}}};
       },
       [](const call&, const tensors&) -> std::optional<expectation> { return expectation{}; },
       {},
       true},
      {{"Range"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto of = [](double start, double limit, double delta) {
           return [=](dtype d) -> attributes {
             if (is_floating(d)) return {{"dtype", d}, {"start", start}, {"limit", limit}, {"delta", delta}};
             const auto whole = [](double v) { return static_cast<std::int64_t>(v); };
             return {{"dtype", d}, {"start", whole(start)}, {"limit", whole(limit)}, {"delta", whole(delta)}};
           };
         };
         const double far = static_cast<double>(m * n);
         return {{"up", {}, of(0, far, 1)},
                 {"in steps", {}, of(-3, far, 4)},
                 {"down", {}, of(far, 2, -3)},
                 {"nothing", {}, of(2, 2, 1)},
                 {"the other way", {}, of(0, -5, 1)}};
       },
       [](const call& c, const tensors&) -> std::optional<expectation> {
         const bool real = is_floating(c.attrs.get<dtype>("dtype"));
         const auto number = [&](std::string_view name) {
           return real ? c.attrs.get<double>(name) : static_cast<double>(c.attrs.get<std::int64_t>(name));
         };
         std::vector<ranged> y;
         const double delta = number("delta");
         for (double v = number("start"); delta > 0 ? v < number("limit") : v > number("limit"); v += delta)
           y.push_back({v, 0});
         return expectation{{y}};
       },
       {{"Range",
         {},
         {{"dtype", dtype::int32}, {"start", std::int64_t{0}}, {"limit", std::int64_t{3}}, {"delta", std::int64_t{0}}},
         "never ends"},
        {"Range",
         {},
         {{"dtype", dtype::uint8}, {"start", std::int64_t{0}}, {"limit", std::int64_t{3}}, {"delta", std::int64_t{1}}},
         "Range of uint8"}}},
      {{"Shape"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         std::vector<sample> all;
         for (dtype d : {dtype::float32, dtype::float64, dtype::int64, dtype::boolean, dtype::string})
           all.push_back({"of " + std::string(to_string(d)), {{{m, 0, n}}}, plain({}), d});
         all.push_back({"of a scalar", {{{}}}});
         return all;
       },
       [](const call& c, const tensors&) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (std::int64_t extent : c.inputs[0].shape().dims()) y.push_back({static_cast<double>(extent), 0});
         return expectation{{y}};
       },
       {},
       true},
  };
}

}  // namespace laws
