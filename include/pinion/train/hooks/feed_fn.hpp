// The hook that asks a function for the feeds of each step.
//
//   tr::feed_fn([&] { return std::vector<pn::feed>{{X, next_batch()}}; })
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Calls `next` before each step and adds the feeds that it returns to those of the step. A value; it owns the function
// and calls it in the thread of the session. If the function throws out_of_range, that is the end of the input and ends
// training. Feeds of the call itself are added to these; an expression that both feed is an error of the step
// (invalid_argument).
class feed_fn {
 public:
  explicit feed_fn(std::function<std::vector<feed>()> next) : next_(std::move(next)) {}
  run_request before_run(run_context&) { return {.feeds = next_()}; }

 private:
  std::function<std::vector<feed>()> next_;
};

}}}  // namespace pinion::v0::train
