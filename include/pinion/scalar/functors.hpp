// The built-in scalar functors. Each is written once, over symbolic values.
//
// A functor is an empty type with `arity` and a static `apply`. Its derivative follows from its primitives, or it
// states one with with_derivative(y, x, dy/dx). At most one operand of an operator may compute something: C++ leaves
// the order of operands open, and the program that is recorded at run time must equal the compiler's, or its kernel is
// not found.
#pragma once

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
