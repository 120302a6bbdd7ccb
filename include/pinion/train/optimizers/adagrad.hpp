// Adagrad.
#pragma once

#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion::inline v0::train {

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
  explicit adagrad(const options& o) : o_(o) {
    if (!(o.initial_accumulator_value > 0))
      throw error(errc::invalid_argument, "the initial_accumulator_value of adagrad is " +
                                              std::to_string(o.initial_accumulator_value) + "; it must be positive");
  }

  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const {
    const node_id sum = slot(g, variable, "accumulator", o_.initial_accumulator_value);
    return make_update<rules::adagrad>(g, ops_of<op::apply_adagrad, op::sparse_apply_adagrad>, {variable, sum},
                                       gradient, {rate});
  }

 private:
  options o_;
};

}  // namespace pinion::inline v0::train
