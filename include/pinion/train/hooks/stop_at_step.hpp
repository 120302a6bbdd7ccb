// Stops training at a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct stop_at_step_options {
  std::optional<std::int64_t> num_steps = {};  // so many more than when the first session is made
  std::optional<std::int64_t> last_step = {};  // at this value of the global step
};

// Asks for the stop once the global step has reached its end; steps of other workers may overshoot it. Throws
// invalid_argument unless exactly one of the options is given.
class stop_at_step {
 public:
  explicit stop_at_step(const stop_at_step_options& o);
  void begin() { step_.begin(); }
  void after_create_session(session& s, coordinator&);
  run_request before_run(run_context&) { return step_.request(); }
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  std::optional<std::int64_t> num_steps_, last_step_;
  global_step_watch step_;
};
PINION_HELD_HOOK(stop_at_step)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/stop_at_step.ipp>
#endif
