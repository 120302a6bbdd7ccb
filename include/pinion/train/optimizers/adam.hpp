// The Adam optimizer: moving means of the gradient and of its square.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of adam.
struct adam_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .001;
  // The parts of m and of v that remain from one step to the next, each in [0, 1).
  double beta1 = .9, beta2 = .999;
  // A number beside the root, not under it: the "epsilon hat" of the paper's section 2.
  double epsilon = 1e-8;
  // true: a sparse gradient changes only the rows that it names.
  bool lazy = false;
};

// Adam (Kingma and Ba 2015), as TensorFlow 1.15 computes it. In step t = 1, 2, ...:
//
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   w -= rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon)
//
// The slots "m" and "v" are the variables W/Adam and W/Adam_1.
//
// The powers of the betas are two variables of the optimizer, beta1_power and beta2_power. They are placed beside the
// trained variable whose name comes first in the alphabet. As in TensorFlow they begin with beta, and each
// apply_gradients multiplies them once, when all its updates are done. They are double for every dtype that is trained,
// because in float 1 - .999 is off by 3e-5. The corrected rate is computed beside them once a step, and goes to the
// variables as a scalar.
//
// A sparse gradient makes m and v decay in all rows and moves all rows, as if the gradient were 0 in the rows that it
// does not name: so do TensorFlow, the formula and a dense gradient. With `lazy`, as in TensorFlow's LazyAdam, the rows
// that are not named keep their values, m and v, and a step costs only as much as the rows that it names.
class adam : public optimizer<adam> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "Adam";
  static constexpr std::array<std::string_view, 2> slots{"m", "v"};
  using options = adam_options;
  // Throws invalid_argument unless the betas are in [0, 1).
  explicit adam(const options& o);

  // The rate of a step with the correction for t, as one node.
  scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const;

  // Updates one variable, with the corrected rate.
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

  // The nodes that multiply the powers once the updates are done.
  std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/adam.ipp>
#endif
