// The hook that writes summaries while training goes on. A monitored session with a folder makes one for its chief.
//
//   tr::summary_saver({.save_steps = 100, .dir = "logs"})
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

// The options of summary_saver. Exactly one of save_steps and save_secs is given, and dir or writer. The files are
// TensorBoard's: tensorboard --logdir logs.
struct summary_saver_options {
  // The number of global steps from one summary to the next.
  std::optional<std::int64_t> save_steps = {};
  // The seconds from one summary to the next.
  std::optional<double> save_secs = {};
  // The folder of the event file that the hook makes when it has no writer.
  std::string dir = {};
  // A writer to share with others, instead of a folder.
  std::shared_ptr<summary_writer> writer = {};
  // The summary to fetch; empty: all summaries of the default graph, merged. With none at all, only the graph is
  // written.
  expr<std::string> summary_op = {};
  // Receives a line when the disk fails; empty: standard error.
  text_sink warn = {};
};

// Fetches a summary with the first step and then every so many global steps or seconds, and writes it to an event file,
// with the graph and a mark for each new session. Only the thread of its session uses it. It owns the writer that it
// makes and shares one that it is given. A disk that fails is reported, and training goes on. The constructor throws
// invalid_argument for options that name no interval, two, or neither dir nor writer. It follows TensorFlow 1.15's
// SummarySaverHook.
class summary_saver {
 public:
  // Throws invalid_argument for options that name no interval, two, or neither dir nor writer.
  explicit summary_saver(summary_saver_options o);
  // Merges the summaries of the graph and makes the writer, unless they are given.
  void begin();
  // Writes the mark of a new session, and the graph of the first with the devices that were asked for: what the tasks
  // have would only be known when all of them answer, and training needs some of them alone.
  void after_create_session(session& s, coordinator&);
  // Fetches the summary, if that is due.
  run_request before_run(run_context&);
  // Adds the summary to the file.
  void after_run(run_context&, std::span<const any_tensor> values);
  // Writes the events that wait.
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
