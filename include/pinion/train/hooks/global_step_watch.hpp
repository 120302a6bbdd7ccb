// The global step, as a hook sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Fetched with every run, first among what the hook fetches. A value; refers to the graph whose step it watches.
class global_step_watch {
 public:
  // In the hook's begin().
  void begin() { step_ = get_or_create_global_step(); }
  const variable_handle<std::int64_t>& variable() const { return step_; }
  // In its before_run().
  run_request request() const { return {.fetches = {dsl::endpoint_of(step_)}}; }
  // In its after_run(): the step that came with the run, before or after the run counted itself.
  static std::int64_t fetched(std::span<const any_tensor> values) { return *values[0].data<std::int64_t>(); }
  std::int64_t read(session& from) const { return std::int64_t(from.run(step_)); }
  // The step behind the run, if something is due at it. It is read only if it is due at the one fetched, or the next.
  template <class Due>
  std::optional<std::int64_t> read_if(const Due& is_due, run_context& c, std::span<const any_tensor> values) const {
    if (!is_due(fetched(values) + 1)) return std::nullopt;
    const std::int64_t now = read(c.session());
    return is_due(now) ? std::optional(now) : std::nullopt;
  }
  std::optional<std::int64_t> read_if_due(const step_timer& timer, run_context& c,
                                          std::span<const any_tensor> values) const;

 private:
  variable_handle<std::int64_t> step_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/global_step_watch.ipp>
#endif
