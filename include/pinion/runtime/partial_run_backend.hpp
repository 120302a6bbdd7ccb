// A run of a step that is fed and fetched in several calls.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A run under way. Feeds, fetches and targets go by their numbers in the step's signature, each at most once. Whatever
// the values that were fed allow runs, whether it is asked for or not, and each node once. Thread-safe.
class partial_run_backend {
 public:
  virtual ~partial_run_backend() = default;
  // Hands a value on. What waited for it alone may run in this thread.
  virtual void feed(std::size_t number, any_tensor value) = 0;
  // Waits until the fetches and targets are there, and returns the values of the fetches. Requires: what they need was
  // fed. Throws the first failure of the step; one that is too late fails it.
  virtual std::vector<any_tensor> await(std::span<const std::size_t> fetches, std::span<const std::size_t> targets) = 0;
  // Throws the first failure of the step, if there is one.
  virtual void expect_well() const = 0;
  // Ends the run with an error. Waits for nothing.
  virtual void fail(const error& why) = 0;
};

}}}  // namespace pinion::v0::runtime
