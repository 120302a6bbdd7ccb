// Gradient descent with momentum.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct momentum_options {
  scalar_value learning_rate = .01;
  double momentum = .9;
  bool use_nesterov = false;
};

// a = momentum a + g; w -= rate a (TensorFlow's form: the rate scales the whole accumulator); with use_nesterov
// w -= rate (g + momentum a). Slot "momentum", W/Momentum. By a sparse gradient, rows that it does not name keep their
// accumulator as it is.
class momentum : public optimizer<momentum> {
 public:
  static constexpr std::string_view name = "Momentum";
  static constexpr std::array<std::string_view, 1> slots{"momentum"};
  using options = momentum_options;
  explicit momentum(const options& o) : o_(o) {}

  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/momentum.ipp>
#endif
