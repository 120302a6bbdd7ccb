// The optimizers: each one a rule over the elements of a variable, its slots and its gradient.
#pragma once

#include <pinion/train/optimizer.hpp>

namespace pinion::inline v0::train {

struct gradient_descent_options {
  float learning_rate = .01f;
};

struct gradient_descent_rule {
  static constexpr int states = 1, numbers = 1;
  template <class V>
  static constexpr std::array<V, 1> apply(const std::array<V, 2>& in, const std::array<V, 1>& rate) {
    return {in[0] - in[1] * rate[0]};
  }
};

// w -= rate * g
class gradient_descent : public optimizer<gradient_descent> {
 public:
  static constexpr std::string_view name = "GradientDescent";
  using options = gradient_descent_options;
  explicit gradient_descent(const options& o) : o_(o) {}

  operation apply_one(graph& g, node_id variable, const gradient_value& gradient) const {
    return detail::make_update<gradient_descent_rule>(
        g, {op::apply_gradient_descent::name, op::sparse_apply_gradient_descent::name}, {variable}, gradient,
        {o_.learning_rate});
  }

 private:
  options o_;
};

struct momentum_options {
  float learning_rate = .01f;
  float momentum = .9f;
};

struct momentum_rule {
  static constexpr int states = 2, numbers = 2;
  template <class V>
  static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 2>& number) {
    const V a = in[1] * number[1] + in[2];
    return {in[0] - a * number[0], a};
  }
};

// a = momentum * a + g; w -= rate * a  (TensorFlow's form: the rate scales the whole accumulator)
class momentum : public optimizer<momentum> {
 public:
  static constexpr std::string_view name = "Momentum";
  using options = momentum_options;
  explicit momentum(const options& o) : o_(o) {}

  operation apply_one(graph& g, node_id variable, const gradient_value& gradient) const {
    const node_id slot = detail::make_slot(g, variable, "Momentum");
    return detail::make_update<momentum_rule>(g, {op::apply_momentum::name, op::sparse_apply_momentum::name},
                                              {variable, slot}, gradient, {o_.learning_rate, o_.momentum});
  }

 private:
  options o_;
};

}  // namespace pinion::inline v0::train
