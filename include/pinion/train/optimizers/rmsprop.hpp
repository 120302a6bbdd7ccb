// The RMSProp optimizer: each element's step is divided by a moving root mean square of its gradients.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of rmsprop.
struct rmsprop_options {
  // The rate, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .001;
  // The part of s and m that remains from one step to the next.
  double decay = .9;
  // The part of the accumulated step a that remains from one step to the next.
  double momentum = 0;
  // A number under the root, against a division by 0.
  double epsilon = 1e-10;
  // true: divides by the root of the gradients' variance; false: of their mean square.
  bool centered = false;
};

// RMSProp (Tieleman and Hinton 2012), as TensorFlow 1.15 computes it:
//
//   s = decay s + (1 - decay) g^2
//   a = momentum a + rate g / sqrt(s + epsilon)
//   w -= a
//
// Centered (Graves 2013), also m = decay m + (1 - decay) g, and s - m^2 stands for s under the root. The slots "rms"
// (s, at first 1 as in TensorFlow), "mg" (m, only where centered) and "momentum" (a) are the variables W/RMSProp,
// W/RMSProp_1, .... With a sparse gradient, rows that it does not name keep their values and their slots, as in
// TensorFlow.
//
//   auto train = tr::rmsprop{{.learning_rate = .001, .momentum = .9}}.minimize(loss);
class rmsprop : public optimizer<rmsprop> {
 public:
  // The name of the optimizer's nodes and slots.
  static constexpr std::string_view name = "RMSProp";
  static constexpr std::array<std::string_view, 3> slots{"rms", "mg", "momentum"};
  using options = rmsprop_options;
  explicit rmsprop(const options& o) : o_(o) {}

  // The members that the base calls, for each apply_gradients and each variable.
  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/rmsprop.ipp>
#endif
