// The hook that notices when training has diverged.
//
//   tr::nan_tensor(loss)                                // an error
//   tr::nan_tensor(loss, {.fail_on_nan_loss = false})   // the end of training
//
// tr::nan_finder tells where it began.
#pragma once

#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of nan_tensor.
struct nan_tensor_options {
  // true: a NaN is an error; false: it ends training without one.
  bool fail_on_nan_loss = true;
};

// Fetches a loss with every step and looks for NaN in it. A NaN throws invalid_argument, which names the loss, or ends
// training. Only the thread of its session uses it. The constructor throws invalid_argument unless the loss is of a
// floating-point dtype. An infinite loss is not looked for. Every step then fetches the loss, which costs one scalar.
class nan_tensor {
 public:
  // Throws invalid_argument unless the loss is of a floating-point dtype.
  explicit nan_tensor(const any_expr& loss, const nan_tensor_options& o = {});
  // Fetches the loss with every step.
  run_request before_run(run_context&) { return {.fetches = {loss_}}; }
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  any_expr loss_;
  nan_tensor_options o_;
};
PINION_HELD_HOOK(nan_tensor)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/nan_tensor.ipp>
#endif
