// The optimizers: each one a rule over the elements of a variable, its slots and its gradient.
#pragma once

#include <pinion/train/optimizer.hpp>

namespace pinion::inline v0::train {

struct gradient_descent_options {
  float learning_rate = .01f;
};

// w -= rate * g
class gradient_descent : public optimizer<gradient_descent> {
 public:
  static constexpr std::string_view name = "GradientDescent";
  using options = gradient_descent_options;
  explicit gradient_descent(const options& o) : o_(o) {}

  operation apply_one(graph& g, node_id variable, output gradient) const {
    return detail::make_update(g, op::apply_gradient_descent::name, {variable}, gradient, [&](auto in) {
      return std::vector{in[0] - in[1] * o_.learning_rate};
    });
  }

 private:
  options o_;
};

struct momentum_options {
  float learning_rate = .01f;
  float momentum = .9f;
};

// a = momentum * a + g; w -= rate * a  (TensorFlow's form: the rate scales the whole accumulator)
class momentum : public optimizer<momentum> {
 public:
  static constexpr std::string_view name = "Momentum";
  using options = momentum_options;
  explicit momentum(const options& o) : o_(o) {}

  operation apply_one(graph& g, node_id variable, output gradient) const {
    const node_id slot = detail::make_slot(g, variable, "Momentum");
    return detail::make_update(g, op::apply_momentum::name, {variable, slot}, gradient, [&](auto in) {
      const auto a = in[1] * o_.momentum + in[2];
      return std::vector{in[0] - a * o_.learning_rate, a};
    });
  }

 private:
  options o_;
};

}  // namespace pinion::inline v0::train
