// Bodies of <pinion/train/hooks/logging_tensor.hpp>.
#pragma once

#include <fmt/format.h>

#include <pinion/base/harmless.hpp>
#include <pinion/tensor/text.hpp>
#include <pinion/train/hooks/logging_tensor.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(logging_tensor)

PINION_DECL logging_tensor::logging_tensor(tagged_tensors tensors, logging_tensor_options o)
    : tensors_(std::move(tensors)), o_(std::move(o)) {
  if (o_.every_n_iter || o_.every_n_secs || !o_.at_end)
    timer_.emplace(o_.every_n_iter, o_.every_n_secs, "logging_tensor");
}

PINION_DECL run_request logging_tensor::before_run(run_context&) {
  asked_ = timer_ && timer_->due(iteration_);
  return asked_ ? request() : run_request{};
}

PINION_DECL void logging_tensor::after_run(run_context&, std::span<const any_tensor> values) {
  if (asked_) log(values);
  ++iteration_;
}

PINION_DECL void logging_tensor::end(session& s) {
  if (o_.at_end) log(s.run(request()));
}

PINION_DECL run_request logging_tensor::request() const {
  run_request r;
  for (const auto& [tag, e] : tensors_) r.fetches.push_back(e);
  return r;
}

PINION_DECL void logging_tensor::log(std::span<const any_tensor> values) {
  const auto passed = timer_ ? timer_->done(iteration_) : std::nullopt;
  std::vector<std::pair<std::string, any_tensor>> all;
  for (std::size_t i = 0; i < values.size(); ++i) all.emplace_back(tensors_[i].first, values[i]);
  std::string line;
  if (o_.formatter) {
    line = o_.formatter(all);
  } else {
    for (const auto& [tag, value] : all)
      line += (line.empty() ? "" : ", ") + tag + " = " + harmless(to_string(value), std::string::npos);
    if (passed) line += fmt::format(" ({:.3f} sec)", passed->seconds);
  }
  o_.log ? o_.log(line) : fmt::print("{}\n", line);
}

}}}  // namespace pinion::v0::train
