// The result of a run.
#pragma once

#include <functional>
#include <vector>

#include <pinion/base/outcome.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The end of a run, or of its part in one task.
struct run_result {
  std::vector<any_tensor> fetches = {};
  step_trace trace = {};      // of what ran, also if the run failed; empty unless it was asked for
  shared_error failure = {};  // null: it ended well
  bool holds = false;         // was something taken from queues that goes back if the run is given up later?
};

// Is there nothing to tell but the failure?
inline bool failed_without_trace(const run_result& r) {
  return r.failure && r.trace.events.empty();
}

// Takes the result of a run. Called once, in any thread.
using run_ended = std::function<void(run_result)>;

}}}  // namespace pinion::v0::distributed
