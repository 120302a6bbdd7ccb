// The rules of the library's optimizers, by the formulas of TensorFlow 1.15, core/kernels/training_ops.cc, where it has
// them, and of the papers named here.
#pragma once

#include <array>
#include <type_traits>

#include <pinion/base/type_list.hpp>

// These are outside namespace op, in which sqrt and rsqrt are ops.
namespace pinion { inline namespace v0 { namespace rules {

// w -= rate g. Robbins and Monro 1951. One state: the variable.
struct gradient_descent {
  static constexpr int states = 1, numbers = 1;
  template <class V>
  static constexpr std::array<V, 1> apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
    return {in[0] - in[1] * number[0]};
  }
};

// a = momentum a + g; w -= rate a. Numbers: rate, momentum. Polyak 1964. States: w, a. The slot a begins as 0.
struct momentum {
  static constexpr int states = 2, numbers = 2;
  template <class V>
  static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 2>& number) {
    const V a = in[1] * number[1] + in[2];
    return {in[0] - a * number[0], a};
  }
};

// a = momentum a + g; w -= rate g + rate momentum a. Numbers: rate, momentum. Nesterov 1983, in the form of Sutskever
// et al. 2013, which takes the gradient at w. States: w, a.
struct nesterov {
  static constexpr int states = 2, numbers = 2;
  template <class V>
  static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 2>& number) {
    const V a = in[1] * number[1] + in[2];
    const V now = in[2] * number[0];
    const V ahead = a * number[1];
    const V step = now + ahead * number[0];
    return {in[0] - step, a};
  }
};

// a += g^2; w -= rate g / sqrt(a). Numbers: rate. Duchi, Hazan and Singer 2011. States: w, a. The slot a begins
// positive, or elements without gradients would be NaN.
struct adagrad {
  static constexpr int states = 2, numbers = 1;
  template <class V>
  static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 1>& number) {
    const V a = in[1] + in[2] * in[2];
    const V step = in[2] * number[0];
    const V scaled = step * rsqrt(a);
    return {in[0] - scaled, a};
  }
};

namespace detail {
// m + (x - m) (1 - decay)
template <class V>
constexpr V moving_average(V m, V x, V decay) {
  const V rest = 1.0 - decay;
  const V change = x - m;
  return m + change * rest;
}
// factor a + rate g / sqrt(s)
template <class V>
constexpr V scaled_step(V a, V factor, V g, V rate, V s) {
  const V step = g * rate;
  const V scaled = step / sqrt(s);
  const V kept = a * factor;
  return kept + scaled;
}
}  // namespace detail

// s = decay s + (1 - decay) g^2; a = momentum a + rate g / sqrt(s + epsilon); w -= a. States: w, s, a. Numbers: rate,
// decay, momentum, epsilon. Tieleman and Hinton 2012. With epsilon under the root, the step of an element without
// gradients stays finite.
struct rmsprop {
  static constexpr int states = 3, numbers = 4;
  template <class V>
  static constexpr std::array<V, 3> apply(const std::array<V, 4>& in, const std::array<V, 4>& number) {
    const V g = in[3];
    const V square = g * g;
    const V s = detail::moving_average(in[1], square, number[1]);
    const V a = detail::scaled_step(in[2], number[2], g, number[0], s + number[3]);
    return {in[0] - a, s, a};
  }
};

// RMSProp with the variance of the gradients: m = decay m + (1 - decay) g, and s - m^2 in place of s in the step.
// States: w, s, a, m. Graves 2013. Numbers are those of rmsprop.
struct centered_rmsprop {
  static constexpr int states = 4, numbers = 4;
  template <class V>
  static constexpr std::array<V, 4> apply(const std::array<V, 5>& in, const std::array<V, 4>& number) {
    const V g = in[4];
    const V square = g * g;
    const V s = detail::moving_average(in[1], square, number[1]);
    const V m = detail::moving_average(in[2], g, number[1]);
    const V variance = s - m * m;
    const V a = detail::scaled_step(in[3], number[2], g, number[0], variance + number[3]);
    return {in[0] - a, s, m, a};
  }
};

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; w -= rate m / (sqrt(v) + epsilon). The rate is already
// corrected for the number of the step. Numbers: rate, beta1, beta2, epsilon. Kingma and Ba 2015. States: w, m, v,
// where m and v begin as 0; the correction for that beginning is in the rate.
struct adam {
  static constexpr int states = 3, numbers = 4;
  static constexpr bool rate_varies = true;
  template <class V>
  static constexpr std::array<V, 3> apply(const std::array<V, 4>& in, const std::array<V, 4>& number) {
    const V g = in[3];
    const V m = detail::moving_average(in[1], g, number[1]);
    const V square = g * g;
    const V v = detail::moving_average(in[2], square, number[2]);
    const V root = sqrt(v);
    const V divisor = root + number[3];
    const V step = m * number[0];
    return {in[0] - step / divisor, m, v};
  }
};

// Adam, and w shrinks by the plain rate and the decay besides, by neither moment: w -= step of adam + rate decay w.
// Loshchilov and Hutter 2019. States are those of adam. Numbers: the rate that is corrected for the number of the step,
// the plain rate, beta1, beta2, epsilon, decay.
struct adamw {
  static constexpr int states = 3, numbers = 6, rates = 2;
  static constexpr bool rate_varies = true;
  template <class V>
  static constexpr std::array<V, 3> apply(const std::array<V, 4>& in, const std::array<V, 6>& number) {
    const V g = in[3];
    const V m = detail::moving_average(in[1], g, number[2]);
    const V square = g * g;
    const V v = detail::moving_average(in[2], square, number[3]);
    const V root = sqrt(v);
    const V divisor = root + number[4];
    const V step = m * number[0];
    const V decay = number[1] * number[5];
    const V shrunk = in[0] - in[0] * decay;
    return {shrunk - step / divisor, m, v};
  }
};

// c = beta1 m + (1 - beta1) g; w -= rate (sign(c) + decay w); m = beta2 m + (1 - beta2) g. Numbers: rate, beta1, beta2,
// decay. Chen et al. 2023. States: w, m. The slot m begins as 0.
struct lion {
  static constexpr int states = 2, numbers = 4;
  template <class V>
  static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 4>& number) {
    const V ahead = detail::moving_average(in[1], in[2], number[1]);
    const V direction = sign(ahead);
    const V pull = in[0] * number[3];
    const V step = direction + pull;
    const V m = detail::moving_average(in[1], in[2], number[2]);
    return {in[0] - step * number[0], m};
  }
};

// a += (x - a) rate: the average of what it is given, of which a part 1 - rate remains from one step to the next.
// Numbers: rate. One state: the average. Optimizers whose update needs more than the elements of one place, such as
// norms, keep their moments by it.
struct moving_average {
  static constexpr int states = 1, numbers = 1;
  template <class V>
  static constexpr std::array<V, 1> apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
    const V change = in[1] - in[0];
    return {in[0] + change * number[0]};
  }
};

// The moving average of the squares: a += (x^2 - a) rate.
struct moving_square {
  static constexpr int states = 1, numbers = 1;
  template <class V>
  static constexpr std::array<V, 1> apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
    const V square = in[1] * in[1];
    const V change = square - in[0];
    return {in[0] + change * number[0]};
  }
};

using all = type_list<gradient_descent, momentum, nesterov, adagrad, rmsprop, centered_rmsprop, adam, adamw, lion,
                      moving_average, moving_square>;

// The kernels of the library's own rules are compiled once, in the library.
template <class Rule>
inline constexpr bool is_of_library =
    []<class... R>(type_list<R...>) { return (std::is_same_v<R, Rule> || ...); }(all{});

}}}  // namespace pinion::v0::rules
