// The Adafactor optimizer: a matrix's second moments as a row and a column.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of adafactor.
struct adafactor_options {
  // The rate, a number or a scalar expression such as a schedule; with relative_step its highest value.
  scalar_value learning_rate = .01;
  // The part of the second moments that is new in step t is t^beta2_decay. It is not positive.
  double beta2_decay = -.8;
  // Numbers beside g^2, and beside which the size of w does not count.
  double epsilon1 = 1e-30, epsilon2 = 1e-3;
  // The root mean square of a direction is at most this. It is positive.
  double clip_threshold = 1;
  // true: the rate of step t is at most 1 / sqrt(t).
  bool relative_step = true;
  // true: the rate is a part of the root mean square of w.
  bool scale_parameter = true;
  // The part of a moving mean of the steps that remains from one to the next, in [0, 1); 0: there is no such mean.
  double beta1 = 0;
};

// Adafactor (Shazeer and Stern 2018, algorithms 4 and 5). For a variable [..., m, n], in step t = 1, 2, ...:
//
//   s = g^2 + epsilon1
//   r += (mean of s over the last axis - r) t^beta2_decay               [..., m]
//   c += (mean of s over the last axis but one - c) t^beta2_decay       [..., n]
//   u = g / sqrt(r c / (mean of r over its last axis))
//   w -= rate u / max(1, rms(u) / clip_threshold)
//
// where rate = min(learning_rate, 1 / sqrt(t)) max(epsilon2, rms(w)), the first factor by relative_step and the second
// by scale_parameter; rms is the root mean square of all elements. A variable of rank 0 or 1 has v, of its own shape,
// in place of r and c. With beta1, w moves by a moving mean of these steps. The formulas are those of Keras, whose
// default rate is .001; with relative_step and scale_parameter off the rate is learning_rate, as in T5.
//
// The slots are "r" and "c", or "v", and with beta1 "m": the variables W/Adafactor, W/Adafactor_1 and so on. The number
// of the next step is kept in the variable "iterations", a double beside the variable whose name comes first in the
// alphabet. A part of a partitioned variable counts as a variable of its own, so a checkpoint fits the same number of
// parts only.
//
// A sparse gradient counts as a dense one that is 0 in the rows that it does not name. The moments and w are each
// written atomically, but not together: replicas that train asynchronously may see one another's moments, while
// sync_replicas makes one update at a time.
class adafactor : public optimizer<adafactor> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "Adafactor";
  static constexpr std::array<std::string_view, 4> slots{"r", "c", "v", "m"};
  using options = adafactor_options;
  // Throws invalid_argument unless beta1 is in [0, 1), beta2_decay is at most 0, the epsilons are finite and not
  // negative, and clip_threshold is positive.
  explicit adafactor(const options& o);

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const;
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;
  std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const;

 private:
  // The part of the second moments that is new, in the dtype of a variable.
  scalar_value new_part(graph& g, node_id variable) const;
  // The direction of a step; both move the second moments.
  output factored(graph& g, node_id variable, output gradient, output square) const;
  output plain(graph& g, node_id variable, output gradient, output square) const;
  // The rate of a variable's step.
  output clipped(graph& g, node_id variable, const scalar_value& rate, output direction) const;
  // A slot with the shape of the variable, without one of its axes.
  node_id without_axis(graph& g, node_id variable, std::string_view slot_name, int axis_from_end) const;

  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/adafactor.ipp>
#endif
