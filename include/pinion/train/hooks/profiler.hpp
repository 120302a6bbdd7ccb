// The hook that records a step now and then, for Perfetto or chrome://tracing.
//
//   tr::profiler({.save_steps = 1000, .output_dir = "traces"})
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

// The options of profiler. Exactly one of save_steps and save_secs is given. Open a file at https://ui.perfetto.dev, or
// in chrome://tracing.
struct profiler_options {
  // The number of global steps from one recorded step to the next.
  std::optional<std::int64_t> save_steps = {};
  // The seconds from one recorded step to the next.
  std::optional<double> save_secs = {};
  // The folder of the files; it is made if it does not exist. Empty: the current folder.
  std::string output_dir = {};
  // Receives a line when the disk fails; empty: standard error.
  text_sink warn = {};
};

// Traces one step every so many global steps or seconds and writes it to timeline-<global step>.json. The first traced
// step comes one interval after the first step, which would show the start of the session instead. Only traced steps
// take longer. The files are those of step_trace::save. Only the thread of its session uses it. Errors of the first
// file are thrown; later a disk that fails is reported, and training goes on. Throws invalid_argument unless exactly
// one of save_steps and save_secs is given. Rules: TensorFlow 1.15, basic_session_run_hooks.py, ProfilerHook.
class profiler {
 public:
  // Throws invalid_argument unless exactly one of save_steps and save_secs is given.
  explicit profiler(profiler_options o);

  void begin() { step_.begin(); }
  // Asks for a trace, if one is due.
  run_request before_run(run_context&);
  // Writes the trace.
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  void save(std::int64_t step);

  profiler_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble files_;
  std::optional<std::int64_t> next_;  // the global step of the next run, nearly; empty before the first run
  bool asked_ = false;
  step_trace trace_;
};
PINION_HELD_HOOK(profiler)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/profiler.ipp>
#endif
