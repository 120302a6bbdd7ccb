// Functors of mathematical functions that nodes of op Map compute: programs of the primitives, so that no kernel of the
// library is theirs. functors.hpp says how functors are written.
#pragma once

#include <string_view>

#include <pinion/scalar/functors.hpp>

namespace pinion { inline namespace v0 { namespace scalar { namespace functor {

#define PINION_FUNCTOR(functor_name, node_name, operands, ...) \
  struct functor_name {                                        \
    static constexpr int arity = operands;                     \
    static constexpr std::string_view name = node_name;        \
    template <class... V>                                      \
    static constexpr auto apply(V... given) {                  \
      return (__VA_ARGS__)(given...);                          \
    }                                                          \
  };

// sin(x) / cos(x), whose derivative is 1 + y^2.
PINION_FUNCTOR(tangent, "Tan", 1, [](auto x) {
  const auto height = sin(x);
  const auto y = height / cos(x);
  return with_derivative(y, x, y * y + 1.0);
})

// The arc tangent of a >= 0 (Moshier, Cephes: atan.c). It is that of a, of (a - 1) / (a + 1) plus pi / 4, or of -1 / a
// plus pi / 2, whichever argument t is small, and then t plus t^3 P(t^2) / Q(t^2).
template <class V>
constexpr auto arc_tangent_of(V a) {
  const auto beyond = a > 0.66;
  const auto far = a > 2.414213562373095;  // the tangent of 3 pi / 8
  const auto over = select(beyond, a - 1.0, a);
  const auto above = select(far, -1.0, over);
  const auto under = select(beyond, a + 1.0, 1.0);
  const auto below = select(far, a, under);
  const auto quarter = select(beyond, 0.78539816339744831, 0.0);
  const auto corner = select(far, 1.5707963267948966, quarter);
  const auto t = above / below;
  const auto z = t * t;
  const auto p0 = z * -8.750608600031904122785e-1 + -1.615753718733365076637e1;
  const auto p1 = (p0 * z + -7.500855792314704667340e1) * z + -1.228866684490136173410e2;
  const auto p = p1 * z + -6.485021904942025371773e1;
  const auto q0 = (z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2;
  const auto q1 = (q0 * z + 4.328810604912902668951e2) * z + 4.853903996359136964868e2;
  const auto q = q1 * z + 1.945506571482613964425e2;
  const auto share = z * p / q;
  const auto inner = t + t * share;
  return corner + inner;
}

// The odd function of x that is v where x is positive, which is v(|x|).
template <class V>
constexpr auto with_sign_of(V x, V v) {
  const auto negative = x < 0.0;
  return select(negative, -v, v);
}

// (1 - x) (1 + x), which is 1 - x^2 without its loss of digits near 1 and -1.
template <class V>
constexpr auto one_minus_square(V x) {
  const auto left = 1.0 - x;
  return left * (x + 1.0);
}

PINION_FUNCTOR(arc_tangent, "Atan", 1, [](auto x) {
  const auto y = with_sign_of(x, arc_tangent_of(abs(x)));
  const auto square = x * x;
  return with_derivative(y, x, 1.0 / (square + 1.0));
})

// The arc sine is twice the arc tangent of x / (1 + sqrt(1 - x^2)), the arc cosine that of sqrt((1 - x) / (1 + x)).
PINION_FUNCTOR(arc_sine, "Asin", 1, [](auto x) {
  const auto a = abs(x);
  const auto rest = one_minus_square(x);
  const auto half = arc_tangent_of(a / (sqrt(rest) + 1.0));
  const auto y = with_sign_of(x, half + half);
  return with_derivative(y, x, rsqrt(rest));
})
PINION_FUNCTOR(arc_cosine, "Acos", 1, [](auto x) {
  const auto left = 1.0 - x;
  const auto half = arc_tangent_of(sqrt(left / (x + 1.0)));
  const auto y = half + half;
  return with_derivative(y, x, -rsqrt(one_minus_square(x)));
})

// True for -0 as well.
template <class V>
constexpr auto has_minus(V x) {
  const auto sum = x + 1.0 / x;
  return sum < 0.0;
}

// The angle of the point (x, y). Its slopes are x and -y by x^2 + y^2, which is computed by the larger of the two, so
// that it does not overflow; at the origin they are 0.
PINION_FUNCTOR(arc_tangent_of_point, "Atan2", 2, [](auto y, auto x) {
  const auto height = abs(y);
  const auto width = abs(x);
  const auto even = height == width;
  const auto limit = sign(height);  // 0 at the origin, and 1 where both are infinite
  const auto v = arc_tangent_of(select(even, limit + 0.0, height / width));
  const auto left = has_minus(x);
  const auto turned = select(left, 3.1415926535897932 - v, v);
  const auto under = has_minus(y);
  const auto angle = select(under, -turned, turned);
  const auto most = max(height, width);
  const auto origin = most == 0.0;
  const auto scale = select(origin, 1.0, most);
  const auto u = x / scale;
  const auto w = y / scale;
  const auto square = u * u;
  const auto squares = square + w * w;
  const auto length = scale * max(squares, 1.0);
  const auto by_y = u / length;
  const auto by_x = -w / length;
  return with_derivative(with_derivative(angle, y, by_y), x, by_x);
})

// sinh(x) = 2 sinh(x / 2) cosh(x / 2) by e^(x / 2) - 1 and e^(-x / 2) - 1, which keeps the digits of small numbers and
// overflows where the result does. cosh(x) has the squares of e^(x / 2) and e^(-x / 2).
template <class V>
constexpr auto hyperbolic_sine_of(V x) {
  const auto half = x * 0.5;
  const auto a = expm1(half);
  const auto b = expm1(-half);
  const auto difference = a - b;
  const auto sum = a + b;
  const auto scaled = difference * 0.5;
  return scaled * (sum + 2.0);
}
template <class V>
constexpr auto hyperbolic_cosine_of(V x) {
  const auto half = x * 0.5;
  const auto a = exp(half);
  const auto b = exp(-half);
  const auto left = a * 0.5 * a;
  const auto right = b * 0.5 * b;
  return left + right;
}
// y, where y and z are each other's derivatives, to the fourth order: the squares overflow earlier than they.
template <class V>
constexpr auto with_each_other_as_slopes(V y, V z, V x) {
  const auto third = with_derivative(z, x, y);
  const auto second = with_derivative(y, x, third);
  const auto first = with_derivative(z, x, second);
  return with_derivative(y, x, first);
}
PINION_FUNCTOR(hyperbolic_sine, "Sinh", 1, [](auto x) {
  const auto y = hyperbolic_sine_of(x);
  return with_each_other_as_slopes(y, hyperbolic_cosine_of(x), x);
})
PINION_FUNCTOR(hyperbolic_cosine, "Cosh", 1, [](auto x) {
  const auto y = hyperbolic_cosine_of(x);
  return with_each_other_as_slopes(y, hyperbolic_sine_of(x), x);
})

// Beyond this number the square of x overflows a float, and the inverse hyperbolic functions of x are log(2 x).
inline constexpr double large_argument = 1e17;

// log(x + sqrt(x^2 + 1)) as log1p of what is small where x is. The slope is 1 / sqrt(x^2 + 1) by the larger of |x| and
// 1.
PINION_FUNCTOR(inverse_hyperbolic_sine, "Asinh", 1, [](auto x) {
  const auto a = abs(x);
  const auto large = a > large_argument;
  const auto square = a * a;
  const auto small = a + square / (sqrt(square + 1.0) + 1.0);
  const auto more = select(large, 0.69314718055994531, 0.0);
  const auto y = with_sign_of(x, more + log1p(select(large, a, small)));
  const auto most = max(a, 1.0);
  const auto below = min(1.0, x);
  const auto ratio = max(-1.0, below) / most;
  return with_derivative(y, x, rsqrt(ratio * ratio + 1.0) / most);
})

// log(x + sqrt(x^2 - 1)), NaN below 1. The slope is 1 / sqrt(x^2 - 1).
PINION_FUNCTOR(inverse_hyperbolic_cosine, "Acosh", 1, [](auto x) {
  const auto large = x > large_argument;
  const auto t = x - 1.0;
  const auto root = sqrt(t);
  const auto product = root * sqrt(t + 2.0);
  const auto small = t + product;
  const auto more = select(large, 0.69314718055994531, 0.0);
  const auto y = more + log1p(select(large, x, small));
  const auto low = rsqrt(t);
  return with_derivative(y, x, low * rsqrt(x + 1.0));
})

// log((1 + x) / (1 - x)) / 2, NaN beyond 1 and -1.
PINION_FUNCTOR(inverse_hyperbolic_tangent, "Atanh", 1, [](auto x) {
  const auto a = abs(x);
  const auto twice = a + a;
  const auto y = with_sign_of(x, log1p(twice / (1.0 - a)) * 0.5);
  return with_derivative(y, x, 1.0 / one_minus_square(x));
})

PINION_FUNCTOR(exponential_minus_one, "Expm1", 1, [](auto x) { return expm1(x); })
// log(x) / log(2), as log(x) plus a smaller part of it, so that the rounding of the factor matters less.
PINION_FUNCTOR(logarithm_to_base_2, "Log2", 1, [](auto x) {
  const auto natural = log(x);
  return natural + natural * 0.44269504088896341;
})
PINION_FUNCTOR(logarithm_to_base_10, "Log10", 1, [](auto x) { return log(x) * 0.43429448190325183; })
PINION_FUNCTOR(power_of_2, "Exp2", 1, [](auto x) {
  const auto y = pow(2.0, x);
  return with_derivative(y, x, y * 0.69314718055994531);
})
PINION_FUNCTOR(inverse, "Reciprocal", 1, [](auto x) { return 1.0 / x; })
PINION_FUNCTOR(truncated, "Trunc", 1, [](auto x) {
  const auto negative = x < 0.0;
  const auto up = ceil(x);
  return select(negative, up, floor(x));
})

// Tells whether r, the rest of x beside a multiple of y, has the other sign than y, which is then added to it.
template <class V, class W>
constexpr auto has_other_sign(V r, W y) {
  const auto of_rest = sign(r);
  return of_rest * sign(y) < 0.0;
}
// x - floor(x / y) y, which is x where that is between 0 and y, an infinite one as well.
PINION_FUNCTOR(floor_mod, "FloorMod", 2, [](auto x, auto y) {
  const auto times = floor(x / y);
  const auto none = times == 0.0;
  const auto multiple = select(none, 0.0, times * y);
  const auto rest = x - multiple;
  return select(has_other_sign(rest, y), rest + y, rest);
})
PINION_FUNCTOR(floor_quotient, "FloorDiv", 2, [](auto x, auto y) { return floor(x / y); })
// The two of integers, whose division cuts towards 0 and yields 0 for a divisor of 0.
PINION_FUNCTOR(floor_mod_of_integers, "FloorMod", 2, [](auto x, auto y) {
  const auto rest = x - x / y * y;
  const auto other = has_other_sign(rest, y);
  return select(other, rest + y, rest);
})
PINION_FUNCTOR(floor_quotient_of_integers, "FloorDiv", 2, [](auto x, auto y) {
  const auto quotient = x / y;
  const auto other = has_other_sign(x - quotient * y, y);
  return select(other, quotient - 1.0, quotient);
})

// x - x is 0 of finite numbers alone.
PINION_FUNCTOR(nan_test, "IsNan", 1, [](auto x) { return x != x; })
PINION_FUNCTOR(infinity_test, "IsInf", 1, [](auto x) {
  const auto number = x == x;
  const auto endless = x - x != 0.0;
  return number && endless;
})
PINION_FUNCTOR(finiteness_test, "IsFinite", 1, [](auto x) { return x - x == 0.0; })

PINION_FUNCTOR(difference_squared, "SquaredDifference", 2, [](auto x, auto y) {
  const auto difference = x - y;
  return difference * difference;
})
// x log(y), but 0 where x is 0, with the slopes log(y) and x / y, which are 0 there as well.
PINION_FUNCTOR(times_logarithm, "Xlogy", 2, [](auto x, auto y) {
  const auto nothing = x == 0.0;
  const auto safe = select(nothing, 1.0, y);
  return x * log(safe);
})
// log(1 / (1 + e^-x)), as softplus computes it. Its derivative is the logistic function of -x.
PINION_FUNCTOR(log_logistic, "LogSigmoid", 1, [](auto x) {
  const auto below = min(x, 0.0);
  const auto y = below - log1p(exp(-abs(x)));
  return with_derivative(y, x, logistic(-x));
})
// x / (1 + |x|). Beyond 1e30 it is 1 or -1 in every dtype, and infinity would be divided by itself.
PINION_FUNCTOR(soft_sign, "Softsign", 1, [](auto x) {
  const auto under = min(x, 1e30);
  const auto bounded = max(under, -1e30);
  const auto y = bounded / (abs(bounded) + 1.0);
  const auto share = 1.0 / (abs(x) + 1.0);
  return with_derivative(y, x, share * share);
})

// sqrt(x^2 + y^2) by the larger of the two, so that no square overflows. Its slopes are x and y by the result, and 0 at
// the origin.
PINION_FUNCTOR(hypotenuse, "Hypot", 2, [](auto x, auto y) {
  const auto a = abs(x);
  const auto b = abs(y);
  const auto most = max(a, b);
  const auto least = min(b, a);
  const auto nothing = most == 0.0;
  const auto scale = select(nothing, 1.0, most);
  const auto finite = least - least == 0.0;
  const auto ratio = select(finite, least / scale, least);
  const auto length = most * sqrt(ratio * ratio + 1.0);
  const auto origin = length == 0.0;
  const auto divisor = select(origin, 1.0, length);
  const auto by_x = x / divisor;
  const auto by_y = y / divisor;
  return with_derivative(with_derivative(length, x, by_x), y, by_y);
})

// x^2 / 2 where |x| is at most delta, and the line that goes on from there elsewhere (Huber 1964).
PINION_FUNCTOR(huber, "Huber", 2, [](auto x, auto delta) {
  const auto a = abs(x);
  const auto within = min(a, delta);
  const auto half = within * 0.5;
  const auto y = within * (a - half);
  const auto below = min(x, delta);
  const auto by_x = max(below, -delta);
  const auto by_delta = a - within;
  return with_derivative(with_derivative(y, x, by_x), delta, by_delta);
})

// The square root of a sum of squares, whose slope at 0 is 0.
PINION_FUNCTOR(root_of_squares, "Norm", 1, [](auto x) {
  const auto positive = x > 0.0;
  const auto safe = select(positive, x, 1.0);
  return select(positive, sqrt(safe), x);
})

// -z log(p) - (1 - z) log(1 - p) of the probability p that is the logistic function of x: max(x, 0) - x z +
// log(1 + e^-|x|), which does not overflow.
PINION_FUNCTOR(logistic_loss, "logistic_loss", 2, [](auto z, auto x) {
  const auto above = max(x, 0.0);
  const auto linear = above - x * z;
  const auto y = linear + log1p(exp(-abs(x)));
  const auto by_x = logistic(x) - z;
  const auto by_z = -x;
  return with_derivative(with_derivative(y, x, by_x), z, by_z);
})
#undef PINION_FUNCTOR

}}}}  // namespace pinion::v0::scalar::functor
