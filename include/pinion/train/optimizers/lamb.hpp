// The LAMB optimizer: Adam's direction, with a step as long as the norm of each variable asks for.
#pragma once

#include <functional>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of lamb.
struct lamb_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .001;
  // The parts of m and of v that remain from one step to the next, each in [0, 1).
  double beta1 = .9, beta2 = .999;
  // A number beside the root of the corrected v.
  double epsilon = 1e-6;
  // The part of w in a direction. It is not negative.
  double weight_decay = .01;
  // Says by the name of a variable whether it decays; empty: all do.
  std::function<bool(std::string_view)> decays = {};
  // Says by the name of a variable whether the length of its steps follows its norm; empty: those that decay.
  std::function<bool(std::string_view)> adapts = {};
};

// LAMB (You et al. 2020, "Large batch optimization for deep learning", algorithm 2, with the identity for its phi). In
// step t = 1, 2, ...:
//
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay w
//   w -= rate |w| / |u| u
//
// The norms are those of whole variables; the parts of a partitioned variable each have their own. Where either norm is
// 0 its quotient is 1. A variable that does not adapt has the quotient 1 always. The slots "m" and "v" are the
// variables W/LAMB and W/LAMB_1; the powers beta1_power and beta2_power are kept as those of adam.
//
// A sparse gradient counts as a dense one that is 0 in the rows that it does not name. The moments and w are each
// written atomically, but not together: replicas that train asynchronously may see one another's moments, while
// sync_replicas makes one update at a time.
class lamb : public optimizer<lamb> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "LAMB";
  static constexpr std::array<std::string_view, 2> slots{"m", "v"};
  using options = lamb_options;
  // Throws invalid_argument unless the betas are in [0, 1), and epsilon and weight_decay are finite and not negative.
  explicit lamb(const options& o);

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const;
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;
  std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const;

 private:
  // The factor 1 / (1 - power) of a moment, computed once a step.
  scalar_value correction(graph& g, std::string_view power) const;
  // The rate of a variable's step.
  scalar_value trusted(graph& g, node_id variable, const scalar_value& rate, output weights, output step) const;

  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/lamb.ipp>
#endif
