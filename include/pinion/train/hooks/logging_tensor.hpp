// Prints values while training goes on.
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

using tagged_tensors = std::vector<std::pair<std::string, any_expr>>;

struct logging_tensor_options {
  std::optional<std::int64_t> every_n_iter = {};
  std::optional<double> every_n_secs = {};
  bool at_end = false;
  std::function<std::string(const std::vector<std::pair<std::string, any_tensor>>&)> formatter = {};
  text_sink log = {};  // standard output where empty
};

// "loss = 0.5, step = 12 (0.103 sec)": every so many of this session's own steps, the first included, or seconds.
class logging_tensor {
 public:
  explicit logging_tensor(tagged_tensors tensors, logging_tensor_options o = {});
  run_request before_run(run_context&);
  void after_run(run_context&, std::span<const any_tensor> values);
  void end(session& s);

 private:
  run_request request() const;
  void log(std::span<const any_tensor> values);

  tagged_tensors tensors_;
  logging_tensor_options o_;
  std::optional<step_timer> timer_;  // none: only at the end
  std::int64_t iteration_ = 0;
  bool asked_ = false;
};
PINION_HELD_HOOK(logging_tensor)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/logging_tensor.ipp>
#endif
