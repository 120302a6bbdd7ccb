// The global step as a hook sees it: fetched with every run, and read exactly where it matters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Fetches the global step with every run, first among the fetches of its hook. A value; it refers to the graph whose
// step it watches. For hooks of one's own: call begin() in begin(), return request() from before_run(), and read the
// step in after_run().
class global_step_watch {
 public:
  // Finds the global step of the default graph, or makes it. The hook calls this in its begin().
  void begin() { step_ = get_or_create_global_step(); }
  const variable_handle<std::int64_t>& variable() const { return step_; }
  // The request for the step, which the hook returns from its before_run(), with its own fetches behind it.
  run_request request() const { return {.fetches = {dsl::endpoint_of(step_)}}; }
  // The step that was fetched with the run, among the values that the hook gets in its after_run(). It may be the value
  // before or after the run counted itself.
  static std::int64_t fetched(std::span<const any_tensor> values) { return *values[0].data<std::int64_t>(); }
  // Reads the step in a run of its own.
  std::int64_t read(session& from) const { return std::int64_t(from.run(step_)); }
  // The step after the run, if something is due at it. It costs a run of its own, which is made only if something is
  // due one step after the fetched value.
  template <class Due>
  std::optional<std::int64_t> read_if(const Due& is_due, run_context& c, std::span<const any_tensor> values) const {
    if (!is_due(fetched(values) + 1)) return std::nullopt;
    const std::int64_t now = read(c.session());
    return is_due(now) ? std::optional(now) : std::nullopt;
  }
  // The step after the run, if the timer is due at it.
  std::optional<std::int64_t> read_if_due(const step_timer& timer, run_context& c,
                                          std::span<const any_tensor> values) const;

 private:
  variable_handle<std::int64_t> step_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/global_step_watch.ipp>
#endif
