// Writes down now and then what a step did, for Perfetto or chrome://tracing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct profiler_options {
  std::optional<std::int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  std::string output_dir = {};  // made if it is not there; empty: where the program runs
  text_sink warn = {};          // is told of a disk that fails; standard error where empty
};

// Every so many steps or seconds one step is traced and written to timeline-<global step>.json, for the first time so
// long after the first step, which would show how the session begins. Only traced steps take longer. The files are
// those of step_trace::save, and so are the errors of the first; later a disk that fails is told of, and training goes
// on. Throws invalid_argument unless exactly one of save_steps and save_secs is given. Rules: TensorFlow 1.15,
// basic_session_run_hooks.py, ProfilerHook.
class profiler {
 public:
  explicit profiler(profiler_options o);

  void begin() { step_.begin(); }
  run_request before_run(run_context&);
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  void save(std::int64_t step);

  profiler_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble files_;
  std::optional<std::int64_t> next_;  // about the global step of the next run; none before the first
  bool asked_ = false;
  step_trace trace_;
};
PINION_HELD_HOOK(profiler)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/profiler.ipp>
#endif
