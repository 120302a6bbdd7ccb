// Elementwise functions.
#include "functions.hpp"

namespace suites {
namespace {

namespace pn = pinion;

// clang-format off
#define OF_ONE(kind, f) \
  {#f, [](const call& c) { return kind(c, [&]<class T>() -> any_expr { return pn::f(c.as<T>(0)); }); }}
#define OF_TWO(kind, f) \
  {#f, [](const call& c) { return kind(c, [&]<class T>() -> any_expr { return pn::f(c.as<T>(0), c.as<T>(1)); }); }}
#define OPERATOR(kind, name, sign) \
  {name, [](const call& c) { return kind(c, [&]<class T>() -> any_expr { return c.as<T>(0) sign c.as<T>(1); }); }}
#define OF_MASKS(name, ...) {name, [](const call& c) -> any_expr { return __VA_ARGS__; }}
#define CAST(name, U) \
  {"cast_to_" name, \
   [](const call& c) { return plain(c, [&]<class T>() -> any_expr { return pn::cast<U>(c.as<T>(0)); }); }}
// clang-format on

const function all[] = {
    OF_ONE(floating, exp),
    OF_ONE(floating, log),
    OF_ONE(floating, log1p),
    OF_ONE(floating, sqrt),
    OF_ONE(floating, rsqrt),
    OF_ONE(floating, tanh),
    OF_ONE(floating, erf),
    OF_ONE(floating, erfc),
    OF_ONE(floating, sin),
    OF_ONE(floating, cos),
    OF_ONE(floating, floor),
    OF_ONE(floating, ceil),
    OF_ONE(floating, round),
    OF_ONE(numbers, square),
    OF_ONE(numbers, abs),
    OF_ONE(numbers, sign),
    OF_ONE(numbers, negative),
    OF_ONE(floating, sigmoid),
    OF_ONE(floating, elu),
    OF_ONE(floating, softplus),
    OF_ONE(numbers, relu),
    OF_ONE(floating, tan),
    OF_ONE(floating, asin),
    OF_ONE(floating, acos),
    OF_ONE(floating, atan),
    OF_ONE(floating, sinh),
    OF_ONE(floating, cosh),
    OF_ONE(floating, asinh),
    OF_ONE(floating, acosh),
    OF_ONE(floating, atanh),
    OF_ONE(floating, expm1),
    OF_ONE(floating, log2),
    OF_ONE(floating, log10),
    OF_ONE(floating, exp2),
    OF_ONE(floating, reciprocal),
    OF_ONE(floating, trunc),
    OF_ONE(floating, logsigmoid),
    OF_ONE(floating, softsign),
    OF_ONE(floating, is_nan),
    OF_ONE(floating, is_inf),
    OF_ONE(floating, is_finite),
    OF_ONE(floating, gelu),
    OF_ONE(floating, gelu_by_tanh),
    OF_ONE(floating, silu),
    OF_ONE(floating, mish),
    OF_ONE(floating, selu),
    OF_ONE(floating, relu6),
    OF_ONE(floating, hard_sigmoid),
    OF_ONE(floating, hard_swish),
    OF_TWO(numbers, maximum),
    OF_TWO(numbers, minimum),
    OF_TWO(floating, pow),
    OF_TWO(numbers, add),
    OF_TWO(numbers, subtract),
    OF_TWO(numbers, multiply),
    OF_TWO(numbers, divide),
    OF_TWO(plain, equal),
    OF_TWO(plain, not_equal),
    OF_TWO(floating, atan2),
    OF_TWO(floating, hypot),
    OF_TWO(floating, xlogy),
    OF_TWO(numbers, squared_difference),
    OF_TWO(numbers, mod),
    OF_TWO(numbers, floordiv),
    OF_TWO(floating, huber),
    OF_TWO(floating, leaky_relu),
    OPERATOR(numbers, "less", <),
    OPERATOR(numbers, "less_equal", <=),
    OPERATOR(numbers, "greater", >),
    OPERATOR(numbers, "greater_equal", >=),
    OF_MASKS("logical_and", c.as<bool>(0) && c.as<bool>(1)),
    OF_MASKS("logical_or", c.as<bool>(0) || c.as<bool>(1)),
    OF_MASKS("logical_xor", pn::logical_xor(c.as<bool>(0), c.as<bool>(1))),
    OF_MASKS("logical_not", !c.as<bool>(0)),
    CAST("float", float),
    CAST("double", double),
    CAST("int32", int),
    CAST("int64", std::int64_t),
    CAST("bool", bool),
    {"clip_by_value",
     [](const call& c) {
       return numbers(c, [&]<class T>() -> any_expr { return pn::clip_by_value(c.as<T>(0), c.as<T>(1), c.as<T>(2)); });
     }},
    {"select",
     [](const call& c) {
       return plain(
           c, [&]<class T>() -> any_expr { return pn::select(c.as<bool>(0), c.as<T>(1), c.as<T>(2)); }, 1);
     }},
};

#undef OF_ONE
#undef OF_TWO
#undef OPERATOR
#undef OF_MASKS
#undef CAST

}  // namespace

std::span<const function> functions_of_elements() {
  return all;
}

}  // namespace suites
