// The hook that prints values while training goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Expressions, each with the name that it is printed under.
//
//   const tr::tagged_tensors shown{{"loss", loss}, {"step", step}};
using tagged_tensors = std::vector<std::pair<std::string, any_expr>>;

// The options of logging_tensor. Exactly one of every_n_iter and every_n_secs is given; with at_end there may be
// neither.
struct logging_tensor_options {
  // The number of this session's own steps from one line to the next.
  std::optional<std::int64_t> every_n_iter = {};
  // The seconds from one line to the next.
  std::optional<double> every_n_secs = {};
  // true: one more line at the end of training.
  bool at_end = false;
  // Makes the line of the names and values; empty: "loss = 0.5, step = 12 (0.103 sec)".
  std::function<std::string(const std::vector<std::pair<std::string, any_tensor>>&)> formatter = {};
  // Receives the lines; empty: standard output.
  text_sink log = {};
};

// Fetches expressions every so many of this session's own steps or seconds, the first step included, and prints them
// with the time since the last line: "loss = 0.5, step = 12 (0.103 sec)". Only the thread of its session uses it. It
// refers to the graph of the expressions. Throws invalid_argument if the options name no interval, or two. It
// follows TensorFlow 1.15's LoggingTensorHook.
//
//   tr::logging_tensor({{"loss", loss}}, {.every_n_iter = 100})
class logging_tensor {
 public:
  // Throws invalid_argument if the options name no interval, or two.
  explicit logging_tensor(tagged_tensors tensors, logging_tensor_options o = {});
  // Fetches the expressions, if a line is due.
  run_request before_run(run_context&);
  // Prints the line.
  void after_run(run_context&, std::span<const any_tensor> values);
  // Prints the last line, if at_end is true.
  void end(session& s);

 private:
  run_request request() const;
  void log(std::span<const any_tensor> values);

  tagged_tensors tensors_;
  logging_tensor_options o_;
  std::optional<step_timer> timer_;  // empty: values are printed at the end only
  std::int64_t iteration_ = 0;
  bool asked_ = false;
};
PINION_HELD_HOOK(logging_tensor)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/logging_tensor.ipp>
#endif
