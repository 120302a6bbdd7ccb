// Adam.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct adam_options {
  scalar_value learning_rate = .001;
  double beta1 = .9, beta2 = .999;
  double epsilon = 1e-8;  // beside the root: the "epsilon hat" of the paper's section 2
  bool lazy = false;      // a sparse gradient changes the rows that it names alone
};

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
// w -= rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon) in step t = 1, 2, ... (Kingma and Ba 2015, as
// TensorFlow 1.15 has it). Slots "m" and "v", W/Adam and W/Adam_1.
//
// The powers of the betas are two variables of the optimizer, beta1_power and beta2_power, beside that of its variables
// whose name is the least; as in TensorFlow they begin with beta, and each apply_gradients multiplies them once, when
// all its updates are done. They are double whatever is trained: in float 1 - .999 is off by 3e-5. The rate is
// corrected there, once a step, and goes to the variables as a scalar.
//
// By a sparse gradient m and v decay in all rows, and all rows move, as if the gradient were 0 in those that it does
// not name: that is TensorFlow's and the formula's, and what a dense gradient does. `lazy` is TensorFlow's LazyAdam:
// rows that are not named stay, with their m and v, and a step costs as much as it has rows.
class adam : public optimizer<adam> {
 public:
  static constexpr std::string_view name = "Adam";
  static constexpr std::array<std::string_view, 2> slots{"m", "v"};
  using options = adam_options;
  // Throws invalid_argument unless the betas are in [0, 1).
  explicit adam(const options& o);

  scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const;

  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

  std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const;

 private:
  variable_handle<double> power(graph& g, node_id first, const std::string& slot_name, double beta) const;
  // Where the variable stands, so that rows alone travel.
  static gradient_value dense(graph& g, node_id variable, const gradient_value& gradient);

  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/adam.ipp>
#endif
