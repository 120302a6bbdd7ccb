// Layers: what a network is built of, with the variables that belong to it.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/dsl/linear.hpp>
#include <pinion/dsl/math.hpp>
#include <pinion/dsl/nn.hpp>
#include <pinion/dsl/random.hpp>

namespace pinion::inline v0::nn {

// Activations as values, to be passed on; any function of an expression does as well.
#define PINION_ACTIVATION(name)                \
  struct name##_activation {                   \
    template <dsl::graph_operand A>            \
    auto operator()(A&& x) const {             \
      return pinion::name(std::forward<A>(x)); \
    }                                          \
  };                                           \
  inline constexpr name##_activation name{};
PINION_ACTIVATION(relu)
PINION_ACTIVATION(elu)
PINION_ACTIVATION(sigmoid)
PINION_ACTIVATION(tanh)
PINION_ACTIVATION(softplus)
PINION_ACTIVATION(softmax)
#undef PINION_ACTIVATION

struct dense_options {
  std::string_view name = "dense";
  bool use_bias = true;
  std::int64_t seed = 0;  // of the first weights; 0: others in each session
};

// x [n, inputs] -> activation(x kernel + bias) [n, units], with the variables NAME/kernel [inputs, units], uniform in
// +-sqrt(6 / (inputs + units)) (Glorot and Bengio 2010), and NAME/bias [units], 0. Throws invalid_argument unless x is
// a matrix of a known number of columns. float, double.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, Activation activation, const dense_options& options = {},
                             source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = x.shape();
  if (units < 1 || extent.rank() != 2 || extent[1] < 0)
    throw error(errc::invalid_argument, "a dense layer of " + std::to_string(units) + " units on '" + x.name() +
                                            "' of shape " + to_string(extent) +
                                            ": it takes a matrix of a known number of columns");
  const double limit = std::sqrt(6.0 / static_cast<double>(extent[1] + units));
  const name_scope scope{options.name};
  const auto kernel =
      variable(random_uniform<T>({extent[1], units}, {.minval = -limit, .maxval = limit, .seed = options.seed}),
               {.name = "kernel"}, where);
  const auto product = matmul(std::forward<A>(x), kernel, {}, where);
  const auto finished = [&](auto&& y) -> expr<T> {
    if constexpr (std::is_null_pointer_v<Activation>)
      return std::forward<decltype(y)>(y);
    else
      return activation(std::forward<decltype(y)>(y));
  };
  if (!options.use_bias) return finished(product);
  const auto bias = variable(zeros<T>({units}), {.name = "bias"}, where);
  return finished(bias_add(product, bias, {}, where));
}
// Without an activation.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, const dense_options& options = {},
                             source_location where = source_location::current()) {
  return dense(std::forward<A>(x), units, nullptr, options, where);
}

}  // namespace pinion::inline v0::nn
