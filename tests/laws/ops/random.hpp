// Random tensors, which have no plain form.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> random_rows() {
  using enum role;
  return {
      {{"RandomUniform", "RandomStandardNormal", "TruncatedNormal"},
       [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"matrix",
                  {},
                  [=](dtype d) {
                    attributes a{{"dtype", d}, {"shape", shape{m, n}}, {"seed", std::int64_t{7}}};
                    if (op == "RandomUniform") a.set("minval", 0.0), a.set("maxval", 100.0);
                    return a;
                  }},
                 {"like a matrix", {{{m, n}}}, [](dtype d) {
                    return attributes{{"dtype", d}, {"seed", std::int64_t{7}}};
                  }}};
       },
       nullptr,
       {{"RandomUniform", {}, {{"dtype", dtype::boolean}, {"shape", shape{2}}}, "RandomUniform of bool"},
        {"RandomUniform", {}, {{"dtype", dtype::float32}, {"shape", shape{2}}, {"minval", 2.0}}, "there is no number"},
        {"RandomStandardNormal", {}, {{"dtype", dtype::int32}, {"shape", shape{2}}}, "of int32"},
        {"TruncatedNormal", {}, {{"dtype", dtype::float32}, {"shape", shape{unknown}}}, "must be known"}}},
  };
}

}  // namespace laws
