// The built-in scalar functors. Each is written once, over symbolic values.
//
// A functor is an empty type with `arity` and a static `apply`. Its derivative follows from its primitives, or it
// states one with with_derivative(y, x, dy/dx). At most one operand of an operator may compute something: C++ leaves
// the order of operands open, and the program that is recorded at run time must equal the compiler's, or its kernel is
// not found.
#pragma once

#include <string_view>

#include <pinion/base/type_list.hpp>

namespace pinion { inline namespace v0 { namespace scalar { namespace functor {

#define PINION_BINARY(name, expression)     \
  struct name {                             \
    static constexpr int arity = 2;         \
    template <class V, class W>             \
    static constexpr auto apply(V x, W y) { \
      return expression;                    \
    }                                       \
  };
#define PINION_UNARY(name, expression) \
  struct name {                        \
    static constexpr int arity = 1;    \
    template <class V>                 \
    static constexpr auto apply(V x) { \
      return expression;               \
    }                                  \
  };

PINION_BINARY(add, x + y)
PINION_BINARY(subtract, x - y)
PINION_BINARY(multiply, x* y)
PINION_BINARY(divide, x / y)
PINION_BINARY(minimum, min(x, y))
PINION_BINARY(maximum, max(x, y))
PINION_BINARY(power, pow(x, y))
PINION_BINARY(less, x < y)
PINION_BINARY(less_equal, x <= y)
PINION_BINARY(greater, x > y)
PINION_BINARY(greater_equal, x >= y)
PINION_BINARY(equal, x == y)
PINION_BINARY(not_equal, x != y)
PINION_UNARY(negate, -x)
PINION_UNARY(absolute, abs(x))
PINION_UNARY(sign_of, sign(x))
PINION_UNARY(exponential, exp(x))
PINION_UNARY(logarithm, log(x))
PINION_UNARY(log_one_plus, log1p(x))
PINION_UNARY(square_root, sqrt(x))
PINION_UNARY(reciprocal_square_root, rsqrt(x))
PINION_UNARY(squared, x* x)
PINION_UNARY(hyperbolic_tangent, tanh(x))
PINION_UNARY(error_function, erf(x))
PINION_UNARY(complementary_error_function, erfc(x))
PINION_UNARY(sine, sin(x))
PINION_UNARY(cosine, cos(x))
PINION_UNARY(floored, floor(x))
PINION_UNARY(ceiled, ceil(x))
PINION_UNARY(rounded, round(x))
PINION_UNARY(identity, x)

#undef PINION_BINARY
#undef PINION_UNARY

// Functors of bools take and yield masks.
struct logical_and {
  static constexpr int arity = 2;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M x, M y) {
    return x && y;
  }
};
struct logical_or {
  static constexpr int arity = 2;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M x, M y) {
    return x || y;
  }
};
struct logical_not {
  static constexpr int arity = 1;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M x) {
    return !x;
  }
};

struct masks_equal {
  static constexpr int arity = 2;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M x, M y) {
    const auto both = x && y;
    const auto either = x || y;
    return both || !either;
  }
};
struct masks_differ {
  static constexpr int arity = 2;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M x, M y) {
    const auto both = x && y;
    const auto either = x || y;
    return either && !both;
  }
};
struct selection_of_masks {
  static constexpr int arity = 3;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M mask, M x, M y) {
    const auto first = mask && x;
    const auto second = !mask;
    const auto other = second && y;
    return first || other;
  }
};
struct same_mask {
  static constexpr int arity = 1;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M x) {
    return x;
  }
};

// The rectified linear unit, x <= 0 ? 0 : x, which is not max(x, 0), whose derivative at 0 is 1. Its value at NaN is
// NaN, its derivative 0.
struct relu {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    const auto negative = x <= 0.0;
    const auto y = select(negative, 0.0, x);
    const auto rises = x > 0.0;
    return with_derivative(y, x, select(rises, 1.0, 0.0));
  }
};

// The exponential linear unit, x > 0 ? x : e^x - 1. Its derivative, 1 or y + 1, follows from y alone, which has the
// sign of x. The exponential of a positive x, whose value is not used, would make higher derivatives NaN where it
// overflows.
struct elu {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    const auto below = min(x, 0.0);
    const auto positive = x > 0.0;
    const auto y = select(positive, x, expm1(below));
    const auto rises = y >= 0.0;
    return with_derivative(y, x, select(rises, 1.0, y + 1.0));
  }
};

// The logistic function, 1 / (1 + e^-x), or e^x / (1 + e^x) for a negative x: no exponential is above 1, so that
// derivatives of all orders are finite.
template <class V>
constexpr auto logistic(V x) {
  const auto minus = -x;
  const auto e = exp(min(x, minus));
  const auto negative = x <= 0.0;
  const auto share = select(negative, e, 1.0);
  return share / (1.0 + e);
}

// The logistic function. Its derivative is y (1 - y).
struct sigmoid {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    const auto y = logistic(x);
    return with_derivative(y, x, y * (1.0 - y));
  }
};

// log(1 + e^x), computed as max(x, 0) + log1p(e^-|x|) so that it does not overflow. Its derivative is the logistic
// function.
struct softplus {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    const auto linear = max(x, 0.0);  // named, so that every compiler emits it first
    const auto y = linear + log1p(exp(-abs(x)));
    return with_derivative(y, x, logistic(x));
  }
};

// Functors that have a `name` have no op of their own: nodes of op Map compute them, and have that base name.

// The Gaussian error linear unit, x P(X <= x) for a normal X: x erfc(-x / sqrt(2)) / 2, which keeps its digits where x
// is far below 0 (Hendrycks and Gimpel 2016).
struct gelu {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Gelu";
  template <class V>
  static constexpr auto apply(V x) {
    const auto share = erfc(x * -0.70710678118654752);
    const auto half = x * 0.5;
    return half * share;
  }
};

// gelu by the approximation x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as x times the logistic function
// of twice that argument. Beyond 30 that function is 1 or 0 in every dtype, and the cube of a larger number might
// overflow.
struct gelu_by_tanh {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Gelu";
  template <class V>
  static constexpr auto apply(V x) {
    const auto below = min(x, 30.0);
    const auto bounded = max(below, -30.0);
    const auto square = bounded * bounded;
    const auto cubic = bounded * (1.0 + square * 0.044715);
    return x * sigmoid::apply(cubic * 1.5957691216057308);
  }
};

// x times the logistic function.
struct silu {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Silu";
  template <class V>
  static constexpr auto apply(V x) {
    return x * sigmoid::apply(x);
  }
};

// x tanh(softplus(x)) (Misra 2019).
struct mish {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Mish";
  template <class V>
  static constexpr auto apply(V x) {
    return x * tanh(softplus::apply(x));
  }
};

// The elu with the slope and the floor that keep the mean at 0 and the variance at 1 (Klambauer et al. 2017).
struct selu {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Selu";
  template <class V>
  static constexpr auto apply(V x) {
    constexpr double slope = 1.0507009873554805, floor = 1.7580993408473766;
    const auto below = expm1(min(x, 0.0)) * floor;
    const auto positive = x > 0.0;
    const auto y = select(positive, x * slope, below);
    const auto rises = y >= 0.0;
    return with_derivative(y, x, select(rises, slope, y + floor));
  }
};

// x above 0, and x times a slope elsewhere.
struct leaky_relu {
  static constexpr int arity = 2;
  static constexpr std::string_view name = "LeakyRelu";
  template <class V, class W>
  static constexpr auto apply(V x, W slope) {
    const auto below = x * slope;
    const auto positive = x > 0.0;
    return select(positive, x, below);
  }
};

// x between 0 and 6, whose derivative at both ends is 0.
struct relu6 {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Relu6";
  template <class V>
  static constexpr auto apply(V x) {
    const auto above = max(x, 0.0);
    const auto y = min(above, 6.0);
    const auto over = x > 0.0;
    const auto under = x < 6.0;
    return with_derivative(y, x, select(over && under, 1.0, 0.0));
  }
};

// relu6(x + 3) / 6, and x times that (Howard et al. 2019).
struct hard_sigmoid {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "HardSigmoid";
  template <class V>
  static constexpr auto apply(V x) {
    const auto moved = x + 3.0;
    return relu6::apply(moved) / 6.0;
  }
};
struct hard_swish {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "HardSwish";
  template <class V>
  static constexpr auto apply(V x) {
    return x * hard_sigmoid::apply(x);
  }
};

// 1 if the mask is true, else 0: a bool as a number.
struct indicator {
  static constexpr int arity = 1;
  static constexpr bool of_masks = true;
  template <class M>
  static constexpr auto apply(M mask) {
    return select(mask, 1.0, 0.0);
  }
};

struct selection {
  static constexpr int arity = 3;
  template <class M, class V, class W>
  static constexpr auto apply(M mask, V x, W y) {
    return select(mask, x, y);
  }
};

// The functors by their operands: numbers of any type, real numbers, or bools.
using of_number = type_list<negate, absolute, sign_of, squared, relu>;
using of_real = type_list<negate, absolute, sign_of, squared, relu, exponential, logarithm, log_one_plus, square_root,
                          reciprocal_square_root, hyperbolic_tangent, error_function, complementary_error_function,
                          sine, cosine, floored, ceiled, rounded, elu, sigmoid, softplus>;
using of_two_numbers = type_list<add, subtract, multiply, divide, minimum, maximum>;
using of_two_reals = type_list<add, subtract, multiply, divide, minimum, maximum, power>;
using comparing = type_list<less, less_equal, greater, greater_equal, equal, not_equal>;
using of_two_masks = type_list<logical_and, logical_or, masks_equal, masks_differ>;

}}}}  // namespace pinion::v0::scalar::functor
