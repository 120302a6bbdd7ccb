// Feeds that a function gives for each step.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// An out_of_range that the function throws is the end of the input.
class feed_fn {
 public:
  explicit feed_fn(std::function<std::vector<feed>()> next) : next_(std::move(next)) {}
  run_request before_run(run_context&) { return {.feeds = next_()}; }

 private:
  std::function<std::vector<feed>()> next_;
};

}}}  // namespace pinion::v0::train
