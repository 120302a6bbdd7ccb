// RMSProp.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct rmsprop_options {
  scalar_value learning_rate = .001;
  double decay = .9;
  double momentum = 0;
  double epsilon = 1e-10;  // under the root
  bool centered = false;   // by the variance of the gradients, not by their square
};

// s = decay s + (1 - decay) g^2; a = momentum a + rate g / sqrt(s + epsilon); w -= a (Tieleman and Hinton 2012).
// Centered (Graves 2013): m = decay m + (1 - decay) g, and s - m^2 for s under the root. Slots "rms" (at first 1, as
// TensorFlow has it), "mg" where centered, "momentum": W/RMSProp, W/RMSProp_1, .... By a sparse gradient, rows that it
// does not name keep all of these, as in TensorFlow.
class rmsprop : public optimizer<rmsprop> {
 public:
  static constexpr std::string_view name = "RMSProp";
  static constexpr std::array<std::string_view, 3> slots{"rms", "mg", "momentum"};
  using options = rmsprop_options;
  explicit rmsprop(const options& o) : o_(o) {}

  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;

 private:
  options o_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/rmsprop.ipp>
#endif
