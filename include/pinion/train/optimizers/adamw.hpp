// The AdamW optimizer: Adam with weight decay beside the moments.
#pragma once

#include <functional>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of adamw.
struct adamw_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .001;
  // The parts of m and of v that remain from one step to the next, each in [0, 1).
  double beta1 = .9, beta2 = .999;
  // A number beside the root, not under it: the "epsilon hat" of the paper's section 2.
  double epsilon = 1e-8;
  // A weight shrinks by this part, times the rate, in each step. It is not negative.
  double weight_decay = .01;
  // Says by the name of a variable whether it decays; empty: all do. Biases and factors of normalisations rarely do:
  // [](std::string_view name) { return !name.ends_with("bias"); }
  std::function<bool(std::string_view)> decays = {};
  // true: a sparse gradient changes only the rows that it names.
  bool lazy = false;
};

// Adam with decoupled weight decay (Loshchilov and Hutter 2019). In step t = 1, 2, ...:
//
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   w -= rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon) + rate weight_decay w
//
// The decay follows the rate and its schedule, as in Keras and PyTorch. Where weight_decay is 0, and for a variable
// that does not decay, this is adam, bit for bit, and the node of the update is ApplyAdam.
//
// The slots "m" and "v" are the variables W/AdamW and W/AdamW_1; the powers beta1_power and beta2_power are kept as
// those of adam. A sparse gradient moves all rows, and they all decay; with `lazy` the rows that are not named keep
// their values, m and v.
//
//   auto train = tr::adamw{{.learning_rate = rate, .weight_decay = .1}}.minimize(loss, {.global_step = step});
class adamw : public optimizer<adamw> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "AdamW";
  static constexpr std::array<std::string_view, 2> slots{"m", "v"};
  using options = adamw_options;
  // Throws invalid_argument unless the betas are in [0, 1) and weight_decay is finite and not negative.
  explicit adamw(const options& o);

  // The members that the base calls: the rate with the correction for t, as one node; the update of one variable; the
  // nodes that multiply the powers once the updates are done.
  scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const;
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;
  std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/adamw.ipp>
#endif
