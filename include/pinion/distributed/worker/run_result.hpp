// The result of a run.
#pragma once

#include <vector>

#include <pinion/base/outcome.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The fetched values of a run, and its trace.
struct run_result {
  std::vector<any_tensor> fetches = {};
  step_trace trace = {};  // empty unless it was asked for
};

// Takes the result of a run. Called once, in any thread.
using run_ended = completion<run_result>;

}}}  // namespace pinion::v0::distributed
