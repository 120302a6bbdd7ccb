// The momentum optimizer: a step also goes on in the direction of the steps before.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of momentum.
struct momentum_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .01;
  // The part of the accumulator that remains from one step to the next.
  double momentum = .9;
  // true: Nesterov's form.
  bool use_nesterov = false;
};

// Gradient descent with momentum, as TensorFlow 1.15 computes it: the rate scales the whole accumulator.
//
//   a = momentum a + g
//   w -= rate a                    with use_nesterov: w -= rate (g + momentum a)
//
// The slot "momentum" holds a, at first 0, in the variable W/Momentum. With a sparse gradient, rows that it does not
// name keep their values and their accumulator.
//
//   auto train = tr::momentum{{.learning_rate = .01f, .momentum = .95f}}.minimize(loss, {.global_step = step});
class momentum : public optimizer<momentum> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "Momentum";
  static constexpr std::array<std::string_view, 1> slots{"momentum"};
  using options = momentum_options;
  explicit momentum(const options& o) : o_(o) {}

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/momentum.ipp>
#endif
