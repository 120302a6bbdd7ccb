// The bits of integers.
#pragma once

#include "laws/row.hpp"

namespace laws {

// The function of an op on the bits of two numbers of a dtype of so many bits, of which that of the sign is one or not.
inline std::int64_t of_bits(std::string_view op, std::int64_t x, std::int64_t y, int width, bool is_signed) {
  const std::int64_t mask = width == 64 ? -1 : (std::int64_t{1} << width) - 1;
  if (op == "BitwiseAnd") return x & y;
  if (op == "BitwiseOr") return x | y;
  if (op == "BitwiseXor") return x ^ y;
  for (std::int64_t places = std::min<std::int64_t>(y, width - 1); places > 0; --places)
    if (op == "LeftShift")
      x = static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * 2) & mask;
    else
      x = (x - (x % 2 != 0)) / 2;
  const bool is_negative = is_signed && op == "LeftShift" && width < 64 && (x >> (width - 1) & 1) != 0;
  return is_negative ? x - mask - 1 : x;
}

inline std::vector<row> bits_rows() {
  return {
      {{"BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"},
       [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const double high = op.ends_with("Shift") ? 70 : 100, low = op.ends_with("Shift") ? -3 : -100;
         const auto first = [](const shape& s) { return input{s, role::number, -100, 100}; };
         const auto second = [&](const shape& s) { return input{s, role::number, low, high}; };
         return {{"matrices", {first({m, n}), second({m, n})}},
                 {"a row", {first({m, n}), second({n})}},
                 {"a column", {first({m, 1}), second({2, m, n})}},
                 {"a scalar", {first({}), second({m, n})}},
                 {"scalars", {first({}), second({})}},
                 {"nothing", {first({0, n}), second({1})}}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         const dtype type = c.inputs[0].dtype();
         shape space;
         if (!broadcast(c.inputs[0].shape(), c.inputs[1].shape(), space)) return std::nullopt;
         std::vector<ranged> y;
         for (std::int64_t e = 0; e < space.count(); ++e) {
           const auto at = [&](std::size_t i) {
             return static_cast<std::int64_t>(x[i][broadcast_index(space, c.inputs[i].shape(), e)]);
           };
           const int width = 8 * static_cast<int>(size_of(type));
           y.push_back({static_cast<double>(of_bits(c.op, at(0), at(1), width, type != dtype::uint8)), 0});
         }
         return expectation{{y}};
       },
       {{"BitwiseAnd", {f({2}), f({2})}, {}, "BitwiseAnd of float is not defined"},
        {"BitwiseOr", {of(dtype::int32, {2}), of(dtype::int64, {2})}, {}, "of int32 and int64"},
        {"BitwiseXor", {of(dtype::boolean, {2}), of(dtype::boolean, {2})}, {}, "BitwiseXor of bool"},
        {"LeftShift", {of(dtype::int32, {2}), of(dtype::int32, {3})}, {}, "do not broadcast"},
        {"RightShift", {of(dtype::int16, {2}), of(dtype::int16, {2})}, {}, "RightShift of int16"}}},
      {{"Invert", "PopulationCount"},
       [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         if (op == "Invert") return {{"matrix", {{{m, n}, role::number, -100, 100}}}, {"nothing", {{{0, n}}}}};
         return {{"int32", {{{m, n}, role::number, -100, 100}}, plain({}), dtype::int32},
                 {"int64", {{{m, n}, role::number, -100, 100}}, plain({}), dtype::int64},
                 {"uint8", {{{m, n}, role::number, 0, 255}}, plain({}), dtype::uint8}};
       },
       [](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (const double v : x[0]) {
           auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
           if (c.inputs[0].dtype() == dtype::int32) bits &= 0xffffffff;
           double count = 0;
           for (; bits != 0; bits /= 2) count += static_cast<double>(bits % 2);
           y.push_back({c.op == "Invert" ? -v - 1 : count, 0});
         }
         return expectation{{y}};
       },
       {{"Invert", {f({2})}, {}, "Invert of float is not defined"},
        {"PopulationCount", {d({2})}, {}, "PopulationCount of double is not defined"}}},
  };
}

}  // namespace laws
