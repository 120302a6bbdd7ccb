// Bodies of <pinion/train/hooks/nan_tensor.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/train/hooks/nan_tensor.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(nan_tensor)

PINION_DECL nan_tensor::nan_tensor(const any_expr& loss, const nan_tensor_options& o) : loss_(loss), o_(o) {
  if (!is_floating(loss.dtype()))
    throw error(errc::invalid_argument, "nan_tensor was given '" + loss.name() + "' of " +
                                            std::string(to_string(loss.dtype())) + ", which is never NaN");
}

PINION_DECL void nan_tensor::after_run(run_context& c, std::span<const any_tensor> values) {
  const any_tensor& t = values[0];
  const bool nan = visit_plain(t.dtype(), [&]<class T>() {
    return std::any_of(t.data<T>(), t.data<T>() + t.count(), [](T x) { return x != x; });
  });
  if (!nan) return;
  if (!o_.fail_on_nan_loss) return c.request_stop();
  throw error(errc::invalid_argument, "NaN loss during training: '" + loss_.name() +
                                          "' is not a number; a smaller learning rate or clipped gradients may help")
      .at_node(loss_.name(), loss_.op(), to_string(loss_.node().where));
}

}}}  // namespace pinion::v0::train
