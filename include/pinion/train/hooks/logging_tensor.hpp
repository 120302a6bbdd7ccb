// Prints values while training goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/runtime/options.hpp>
#include <pinion/tensor/text.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion::inline v0::train {

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
  explicit logging_tensor(tagged_tensors tensors, logging_tensor_options o = {})
      : tensors_(std::move(tensors)), o_(std::move(o)) {
    if (o_.every_n_iter || o_.every_n_secs || !o_.at_end)
      timer_.emplace(o_.every_n_iter, o_.every_n_secs, "logging_tensor");
  }
  run_request before_run(run_context&) {
    asked_ = timer_ && timer_->due(iteration_);
    return asked_ ? request() : run_request{};
  }
  void after_run(run_context&, std::span<const any_tensor> values) {
    if (asked_) log(values);
    ++iteration_;
  }
  void end(session& s) {
    if (o_.at_end) log(s.run(request()));
  }

 private:
  run_request request() const {
    run_request r;
    for (const auto& [tag, e] : tensors_) r.fetches.push_back(e);
    return r;
  }
  void log(std::span<const any_tensor> values) {
    const auto passed = timer_ ? timer_->done(iteration_) : std::nullopt;
    std::vector<std::pair<std::string, any_tensor>> all;
    for (std::size_t i = 0; i < values.size(); ++i) all.emplace_back(tensors_[i].first, values[i]);
    std::string line;
    if (o_.formatter) {
      line = o_.formatter(all);
    } else {
      for (const auto& [tag, value] : all) line += (line.empty() ? "" : ", ") + tag + " = " + to_string(value);
      if (passed) line += fmt::format(" ({:.3f} sec)", passed->seconds);
    }
    o_.log ? o_.log(line) : fmt::print("{}\n", line);
  }

  tagged_tensors tensors_;
  logging_tensor_options o_;
  std::optional<step_timer> timer_;  // none: only at the end
  std::int64_t iteration_ = 0;
  bool asked_ = false;
};

}  // namespace pinion::inline v0::train
