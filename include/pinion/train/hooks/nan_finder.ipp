// Bodies of <pinion/train/hooks/nan_finder.hpp>.
#pragma once

#include <string>

#include <pinion/runtime/check/node_values.hpp>
#include <pinion/train/hooks/nan_finder.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(nan_finder)

PINION_DECL nan_finder::nan_finder(const nan_finder_options& o) : o_(o) {
  if (o.every_n_iter < 1)
    throw error(errc::invalid_argument, "nan_finder checks one step of every_n_iter, which is at least 1, not " +
                                            std::to_string(o.every_n_iter));
  if (o.from_step < 0)
    throw error(errc::invalid_argument,
                "nan_finder checks from a global step on, which is at least 0, not " + std::to_string(o.from_step));
}

PINION_DECL nan_finder::nan_finder(const any_expr& loss, const nan_finder_options& o) : nan_finder(o) {
  if (!is_floating(loss.dtype()))
    throw error(errc::invalid_argument, "nan_finder was given '" + loss.name() + "' of " +
                                            std::string(to_string(loss.dtype())) + ", which is never NaN");
  loss_ = loss;
}

PINION_DECL run_request nan_finder::before_run(run_context& c) {
  if (!now_) now_ = step_.read(c.session());
  checked_ = *now_ >= o_.from_step && runs_++ % o_.every_n_iter == 0;
  run_request r = step_.request();
  if (loss_) r.fetches.push_back(*loss_);
  r.check_values = checked_;
  return r;
}

PINION_DECL void nan_finder::after_run(run_context&, std::span<const any_tensor> values) {
  const std::int64_t step = global_step_watch::fetched(values);
  now_ = step + 1;
  if (!loss_ || runtime::all_finite(values[1])) return;
  throw error(errc::invalid_argument,
              "loss '" + loss_->name() + "' is not finite at global step " + std::to_string(step) +
                  (checked_ ? ", of infinities that constants, feeds or variables brought into the step"
                            : ", in a step that was not checked; start again from a checkpoint before it, with a "
                              "from_step of nan_finder that is no later"))
      .at_node(loss_->name(), loss_->op(), to_string(loss_->node().where));
}

}}}  // namespace pinion::v0::train
