// Random tensors of distributions whose parameters are tensors, drawn anew in each run; on CPUs.
//
//   auto waits = pn::random_gamma({1000}, 2.5, {.beta = .1, .seed = 1});       // [1000]
//   auto hits = pn::random_poisson<int>({8}, rates, {.seed = 2});               // rates [n] -> [8, n]
//
// The elements depend on the seed, the run, the place of the element and its parameters alone, as those of
// random_uniform do: a seed yields the same sequence with any number of threads. A seed of 0 stands for another one in
// each session. <pinion/train.hpp> brings this header, <pinion/graph.hpp> does not.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/dsl/number_or_expression.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/distribution/op.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of random_gamma. `beta`, a number or an expression that broadcasts with alpha, is the inverse of the scale:
// the mean is alpha / beta. The name is that of a name scope around the nodes.
struct gamma_options {
  number_or_expression beta = 1;
  std::int64_t seed = 0;  // 0: another one in each session
  std::string_view name = {};
};

// Options of random_poisson.
struct poisson_options {
  std::int64_t seed = 0;  // 0: another one in each session
  std::string_view name = {};
};

namespace dsl {
// The dtype of a parameter: that of an expression, or of a number, where an integer counts as float.
template <class A>
struct parameter_dtype {
  using type = std::conditional_t<std::is_same_v<A, double>, double, float>;
};
template <graph_operand A>
struct parameter_dtype<A> {
  using type = value_of<A>;
};
template <class A>
using parameter_of = typename parameter_dtype<A>::type;

// A parameter as an expression of float or double.
template <class A>
expr<parameter_of<A>> as_parameter(const A& x, source_location where) {
  if constexpr (graph_operand<A>) {
    check_floating<A>();
    return expr<value_of<A>>(x);
  } else {
    static_assert(std::is_arithmetic_v<A>, "a parameter is a number, or an expression of float or double");
    return constant(static_cast<parameter_of<A>>(x), {}, where);
  }
}
// Beta as a number of T. Throws invalid_argument unless it is positive.
template <class T>
T positive_beta(double beta) {
  if (beta > 0) return static_cast<T>(beta);
  throw error(errc::invalid_argument, "random_gamma with beta " + number_text(beta) + "; it must be positive");
}
// Beta as an expression of T. Throws invalid_argument where it is of another dtype.
template <class T>
expr<T> beta_of(const any_expr& beta) {
  if (beta.dtype() == dtype_of<T>) return as_typed<expr<T>>(beta);
  throw error(errc::invalid_argument, "random_gamma has an alpha of " + std::string(to_string(dtype_of<T>)) +
                                          " and a beta of " + std::string(to_string(beta.dtype())) +
                                          "; pn::cast converts one of them");
}
}  // namespace dsl

// Numbers of the gamma distribution, of density x^(alpha - 1) e^(-beta x) up to a factor: a tensor of this shape for
// each alpha, so that alpha [n] and shape {8} make [8, n]. Alpha is a number, or an expression of float or double, and
// says the dtype. By Marsaglia and Tsang (2000), computed in double; no number is less than the least normal one of its
// dtype, so that logarithms are finite (TensorFlow's rule). An alpha that is negative or NaN yields NaN. Throws
// invalid_argument for a shape that is not known, for a beta of another dtype, and for one that is a number and not
// positive; an expression is not looked at. A gradient flows to beta; asking for one by alpha throws unimplemented.
// TensorFlow: tf.random.gamma, whose elements are others; its gradient by alpha is not here.
//
//   auto g = pn::random_gamma({1000}, pn::constant<float>({.5f, 3}), {.beta = 2, .seed = 1});      // [1000, 2]
template <class A>
expr<dsl::parameter_of<A>> random_gamma(const shape& extent, const A& alpha, const gamma_options& o = {},
                                        source_location where = source_location::current()) {
  using T = dsl::parameter_of<A>;
  const called_from line(where);
  const name_scope scope{o.name.empty() ? std::string_view("random_gamma") : o.name};
  const expr<T> given = dsl::as_parameter(alpha, where);
  const auto draw = [&](const expr<T>& each) -> expr<T> {
    return dsl::node_call<op::random_gamma, T>({}, where, {{"shape", extent}, {"seed", o.seed}}, each);
  };
  const auto least = [&](const expr<T>& scaled) -> expr<T> { return maximum(scaled, std::numeric_limits<T>::min()); };
  if (o.beta.is_number()) return least(draw(given) / dsl::positive_beta<T>(o.beta.number()));
  const expr<T> beta = dsl::beta_of<T>(o.beta.expression());
  return least(draw(given + zeros_like(beta)) / beta);
}

// Whole numbers of the Poisson distribution: a tensor of this shape for each rate, which is the mean, so that rates [n]
// and shape {8} make [8, n]. Rates are a number, or an expression of float or double. R is the dtype of the numbers:
// float, double, int or int64; without it they have the dtype of the rates. Small rates by inversion, others by
// Hörmann's transformed rejection (1993), in double. A rate that is negative or NaN yields NaN; integers have none, so
// the step fails then, with code invalid_argument. An infinite rate yields infinity, or the greatest integer. Throws
// invalid_argument for a shape that is not known. No gradient: asking for one by the rate throws unimplemented.
// TensorFlow: tf.random.poisson, whose elements are others, and float by default.
template <class R = void, class A>
auto random_poisson(const shape& extent, const A& rate, const poisson_options& o = {},
                    source_location where = source_location::current()) {
  using T = std::conditional_t<std::is_void_v<R>, dsl::parameter_of<A>, R>;
  static_assert(op::random_poisson::types.has(dtype_of<T>), "Poisson numbers are of float, double, int or int64");
  const expr<dsl::parameter_of<A>> rates = dsl::as_parameter(rate, where);
  return expr<T>(dsl::node_call<op::random_poisson, T>(
      o.name, where, {{"shape", extent}, {"dtype", dtype_of<T>}, {"seed", o.seed}}, rates));
}

}}  // namespace pinion::v0
