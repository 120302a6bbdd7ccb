// Notices that training has diverged.
#pragma once

#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct nan_tensor_options {
  bool fail_on_nan_loss = true;  // otherwise training stops, without an error
};

// A loss that is NaN at a step is an error, invalid_argument, that names it; or ends training.
class nan_tensor {
 public:
  explicit nan_tensor(const any_expr& loss, const nan_tensor_options& o = {});
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
