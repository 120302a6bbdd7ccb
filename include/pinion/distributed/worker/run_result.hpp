// The result of a run.
#pragma once

#include <functional>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The fetched values of a run, and its trace.
struct run_result {
  std::vector<any_tensor> fetches = {};
  step_trace trace = {};  // empty unless it was asked for
};

// Takes the result of a run, or its error. Called once, in any thread.
using run_ended = std::function<void(run_result, const error*)>;

}}}  // namespace pinion::v0::distributed
