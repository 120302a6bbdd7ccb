// Tells a layer whether it trains or predicts, either when the graph is built or in each step.
//
//   auto training = pn::placeholder<bool>({}, "training");                  // fed in each step
//   auto y = pn::nn::dropout(x, {.rate = .4, .training = training});
#pragma once

#include <utility>

#include <pinion/op/control/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// true, false, or a bool expression with one element, evaluated in each step. A value. It converts from both, so an
// option takes `.training = true` and `.training = placeholder` alike. A scalar bool placeholder that is not fed fails
// the step with invalid_argument.
class training_flag {
 public:
  // Trains or predicts in every step.
  training_flag(bool always) : fixed_(always) {}
  template <class P, class L>
  training_flag(const expr<bool, P, L>& each_step) : each_step_(each_step) {}

  // Tells whether it is known when the graph is built. fixed() then has the value, and each_step() the expression
  // otherwise. An empty expr<bool> counts as the fixed flag false.
  bool is_fixed() const { return each_step_.empty(); }
  bool fixed() const { return fixed_; }
  const expr<bool>& each_step() const { return each_step_; }

  // The result of `train` in training, and of `predict` otherwise. A fixed flag calls one of the two functions; a bool
  // expression builds both as the branches of a cond, of which a step runs one. Both functions return the same type, an
  // expression or a tuple of them.
  //
  //   auto y = flag.choose([&] { return pn::expr<float>(noisy); }, [&] { return pn::expr<float>(x); });
  template <class Train, class Predict>
  auto choose(Train train, Predict predict, source_location where = source_location::current()) const
      -> decltype(predict()) {
    if (is_fixed()) return fixed_ ? train() : predict();
    return cond(each_step_, std::move(train), std::move(predict), {}, where);
  }

 private:
  bool fixed_ = false;
  expr<bool> each_step_;
};

}}}  // namespace pinion::v0::nn
