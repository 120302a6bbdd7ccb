// Bodies of <pinion/distributed/client/remote_partial_run.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/client/remote_partial_run.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void remote_partial_run::feed(std::size_t number, any_tensor value) {
  std::lock_guard hold(mutex_);
  fed_.feeds.push_back(number);
  fed_.values.push_back(std::move(value));
}

PINION_DECL std::vector<any_tensor> remote_partial_run::await(std::span<const std::size_t> fetches,
                                                              std::span<const std::size_t> targets) {
  const users::one call(calls_);
  try {
    const auto port = port_.lock();
    if (!port) throw runtime::closed_meanwhile();
    auto values = port->continue_partial_run(number_, next_call(fetches, targets), after(*net_, limit_));
    expect_fetches(types_of(fetches), values);
    return values;
  } catch (...) {
    fail(current_error());
    throw;
  }
}

PINION_DECL partial_call remote_partial_run::next_call(std::span<const std::size_t> fetches,
                                                       std::span<const std::size_t> targets) {
  std::unique_lock hold(mutex_);
  partial_call next = std::exchange(fed_, {});
  hold.unlock();
  next.fetches.assign(fetches.begin(), fetches.end());
  next.targets.assign(targets.begin(), targets.end());
  return next;
}

PINION_DECL std::vector<output_type> remote_partial_run::types_of(std::span<const std::size_t> fetches) const {
  std::vector<output_type> types;
  for (const std::size_t n : fetches) types.push_back(fetched_[n]);
  return types;
}

PINION_DECL void remote_partial_run::expect_well() const {
  std::lock_guard hold(mutex_);
  outcome<>(failure_).value();
}

PINION_DECL void remote_partial_run::fail(const error& why) {
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    failure_ = pinion::detail::share(why);
  }
  if (const auto port = port_.lock()) port->end_partial_run(number_);
}

}}}  // namespace pinion::v0::distributed
