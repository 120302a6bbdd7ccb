// Conversions from and to stored elements.
#pragma once

#include "laws/row.hpp"

namespace laws {

// The number that a conversion makes of one: rounded to a floating-point type, or cut off and kept within an integer.
inline double converted_number(double x, dtype from, dtype to) {
  return visit_plain<dtypes::moved>(to, [&]<class T>() -> double {
    using limits = std::numeric_limits<T>;
    const bool real = is_floating(from) || from == dtype::half || from == dtype::bfloat16;
    if constexpr (std::is_same_v<T, bool>)
      return x != 0;
    else if constexpr (!std::is_integral_v<T>)
      return static_cast<double>(static_cast<T>(x));
    else
      return real ? std::clamp(std::trunc(x), static_cast<double>(limits::min()), static_cast<double>(limits::max()))
                  : static_cast<double>(static_cast<T>(static_cast<std::int64_t>(x)));  // modulo the numbers of T
  });
}

inline std::vector<row> convert_rows() {
  return {{{"Convert"},
           [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
             const auto to = [](dtype key) { return attributes{{"dtype", key}}; };
             std::vector<sample> all{{"nothing", {{{0, n}}}, to, dtype::half}, {"scalar", {{{}}}, to, dtype::int8}};
             for (const dtype from : {dtype::half, dtype::bfloat16, dtype::int8, dtype::int16, dtype::uint16,
                                      dtype::uint32, dtype::uint64})
               all.push_back({std::string(to_string(from)), {{{m, n}, role::number, -100, 100}}, to, from});
             return all;
           },
           [](const call& c, const tensors& x) -> std::optional<expectation> {
             std::vector<double> y;
             for (const double one : x[0])
               y.push_back(converted_number(one, c.inputs[0].dtype(), c.attrs.get<dtype>("dtype")));
             return expectation{{exactly(y)}};
           },
           {{"Convert", {f({2})}, {{"dtype", dtype::float64}}, "Cast converts float to double"},
            {"Convert", {of(dtype::half, {2})}, {{"dtype", dtype::string}}, "half to string is not defined"},
            {"Convert", {any_tensor(dtype::string, {2})}, {{"dtype", dtype::half}}, "string to half is not defined"}}}};
}

}  // namespace laws
