// The Adagrad optimizer: each element has a rate of its own, which falls as its gradients add up.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of adagrad.
struct adagrad_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .01;
  // The value that each element of the accumulator begins with. Positive.
  double initial_accumulator_value = .1;
};

// Adagrad (Duchi, Hazan and Singer 2011), as TensorFlow 1.15 computes it:
//
//   a += g^2
//   w -= rate g / sqrt(a)
//
// The slot "accumulator" holds a, in the variable W/Adagrad. A sparse gradient changes the rows that it names; the
// formula leaves the others as they are.
//
//   auto train = tr::adagrad{{.learning_rate = .1}}.minimize(loss);
class adagrad : public optimizer<adagrad> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "Adagrad";
  static constexpr std::array<std::string_view, 1> slots{"accumulator"};
  using options = adagrad_options;
  // Throws invalid_argument unless the initial value is positive: with 0, an element whose gradients are 0 would become
  // NaN.
  explicit adagrad(const options& o);

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/adagrad.ipp>
#endif
