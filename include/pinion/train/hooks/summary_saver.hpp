// Writes summaries while training goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>
#include <pinion/train/summary/summary_writer.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct summary_saver_options {
  std::optional<std::int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  std::string dir = {};                         // of a writer of its own,
  std::shared_ptr<summary_writer> writer = {};  // or this one
  expr<std::string> summary_op = {};            // empty: all summaries of the graph; nothing where it has none
  text_sink warn = {};                          // is told of a disk that fails; standard error where empty
};

// At the first step and then every so many steps or seconds. A disk that fails is told of, and training goes on.
class summary_saver {
 public:
  explicit summary_saver(summary_saver_options o);
  void begin();
  void after_create_session(session& s, coordinator&);
  run_request before_run(run_context&);
  void after_run(run_context&, std::span<const any_tensor> values);
  void end(session&);

 private:
  summary_saver_options o_;
  step_timer timer_;
  global_step_watch step_;
  disk_trouble file_;
  std::int64_t next_ = 0;
  bool asked_ = false, has_graph_ = false;
};
PINION_HELD_HOOK(summary_saver)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/summary_saver.ipp>
#endif
