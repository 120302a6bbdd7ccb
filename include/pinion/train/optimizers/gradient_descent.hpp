// The gradient descent optimizer: the simplest one, without slots.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of gradient_descent.
struct gradient_descent_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .01;
};

// Gradient descent: w -= rate g. It has no slots. A sparse gradient changes the rows that it names; rows of the same
// index add up.
//
//   auto train = tr::gradient_descent{{.learning_rate = .1}}.minimize(loss, {.global_step = step});
class gradient_descent : public optimizer<gradient_descent> {
 public:
  // The name of the optimizer's nodes.
  static constexpr std::string_view name = "GradientDescent";
  static constexpr std::array<std::string_view, 0> slots{};
  using options = gradient_descent_options;
  explicit gradient_descent(const options& o) : o_(o) {}

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/gradient_descent.ipp>
#endif
