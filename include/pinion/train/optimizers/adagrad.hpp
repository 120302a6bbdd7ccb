// Adagrad.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct adagrad_options {
  scalar_value learning_rate = .01;
  double initial_accumulator_value = .1;  // positive
};

// a += g^2; w -= rate g / sqrt(a) (Duchi, Hazan and Singer 2011). Slot "accumulator", W/Adagrad. By a sparse gradient,
// rows that it does not name stay as they are, as the formula would leave them.
class adagrad : public optimizer<adagrad> {
 public:
  static constexpr std::string_view name = "Adagrad";
  static constexpr std::array<std::string_view, 1> slots{"accumulator"};
  using options = adagrad_options;
  // Throws invalid_argument where the initial value is not positive: an element whose gradients are 0 would become NaN.
  explicit adagrad(const options& o);

  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/adagrad.ipp>
#endif
