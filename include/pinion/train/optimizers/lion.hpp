// The Lion optimizer: steps of one size, in the direction of a moving mean of the gradient.
#pragma once

#include <functional>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of lion.
struct lion_options {
  // The rate, a number or a scalar expression such as a schedule. Every weight moves by it in each step, so it is 3 to
  // 10 times smaller than that of adam.
  scalar_value learning_rate = 1e-4;
  // The part of m in the direction of a step, and the part of it that remains from one step to the next. Both are in
  // [0, 1).
  double beta1 = .9, beta2 = .99;
  // A weight shrinks by this part, times the rate, in each step. It is not negative.
  double weight_decay = 0;
  // Says by the name of a variable whether it decays; empty: all do.
  std::function<bool(std::string_view)> decays = {};
};

// Lion (Chen et al. 2023, "Symbolic discovery of optimization algorithms"):
//
//   c = beta1 m + (1 - beta1) g
//   w -= rate (sign(c) + weight_decay w)
//   m = beta2 m + (1 - beta2) g
//
// The slot "momentum" holds m, at first 0, in the variable W/Lion. With a sparse gradient, rows that it does not name
// keep their values and their m, and do not decay.
//
//   auto train = tr::lion{{.learning_rate = 3e-4, .weight_decay = .1}}.minimize(loss, {.global_step = step});
class lion : public optimizer<lion> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "Lion";
  static constexpr std::array<std::string_view, 1> slots{"momentum"};
  using options = lion_options;
  // Throws invalid_argument unless the betas are in [0, 1) and weight_decay is finite and not negative.
  explicit lion(const options& o);

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/lion.ipp>
#endif
