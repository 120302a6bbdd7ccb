// Random numbers of distributions, which have no plain form.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> distribution_rows() {
  const auto drawing = [](std::string_view op, const shape& each) {
    return [=](dtype d) {
      attributes a{{"shape", each}, {"seed", std::int64_t{7}}};
      if (op == "RandomPoissonV2") a.set("dtype", d);
      return a;
    };
  };
  const attributes two{{"shape", shape{2}}}, deep{{"shape", shape{1, 1, 1, 1, 1}}};
  const auto typed = [](dtype d, const shape& s) { return attributes{{"shape", s}, {"dtype", d}}; };
  return {
      {{"RandomGamma", "RandomPoissonV2"},
       [=](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto numbers = op == "RandomGamma" ? std::optional<dtype>{} : dtype::float64;
         const double most = op == "RandomGamma" ? 3 : 30;
         return {{"a scalar each", {{{m, n}, role::number, .1, most}}, drawing(op, {}), numbers},
                 {"of one parameter", {{{}, role::number, .1, most}}, drawing(op, {m, n}), numbers},
                 {"of a row", {{{n}, role::number, .1, most}}, drawing(op, {m, 2}), numbers},
                 {"none of each", {{{n}, role::number, .1, most}}, drawing(op, {0, 2}), numbers},
                 {"of no parameters", {{{0}, role::number, .1, most}}, drawing(op, {m}), numbers}};
       },
       nullptr,
       {{"RandomGamma", {i({2})}, two, "parameters of int32"},
        {"RandomGamma", {f({2})}, {{"shape", shape{unknown}}}, "must be known"},
        {"RandomGamma", {f({1, 1, 1, 1})}, deep, "has more than 8 axes"},
        {"RandomPoissonV2", {i({2})}, typed(dtype::int32, {2}), "parameters of int32"},
        {"RandomPoissonV2", {f({2})}, typed(dtype::uint8, {2}), "of uint8"},
        {"RandomPoissonV2", {f({2})}, typed(dtype::boolean, {2}), "RandomPoissonV2 of bool"},
        {"RandomPoissonV2", {f({2})}, typed(dtype::float32, {unknown}), "must be known"}}},
  };
}

}  // namespace laws
