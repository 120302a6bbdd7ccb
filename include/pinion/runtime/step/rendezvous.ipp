// Bodies of <pinion/runtime/step/rendezvous.hpp>.
#pragma once

#include <utility>

#include <pinion/runtime/step/rendezvous.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL local_rendezvous::waiting& local_rendezvous::waiting_ones() {
  if (!waiting_) waiting_ = std::make_unique<waiting>();
  return *waiting_;
}

PINION_DECL void local_rendezvous::send(const transfer_key& key, handed_over value) {
  receiver receives;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    auto& [values, receivers] = waiting_ones();
    const auto at = receivers.find(key);
    if (at == receivers.end()) {
      values.emplace(key, std::move(value));
      return;
    }
    receives = std::move(at->second);
    receivers.erase(at);
  }
  receives(std::move(value));
}

PINION_DECL void local_rendezvous::receive(const transfer_key& key, receiver done) {
  outcome<handed_over> found = handed_over();
  {
    std::lock_guard hold(mutex_);
    auto& [values, receivers] = waiting_ones();
    const auto at = values.find(key);
    if (failure_) {
      found = failure_;
    } else if (at == values.end()) {
      if (receivers.try_emplace(key, std::move(done)).second) return;
      found = received_twice(key);  // the receiver was not taken, and is called below
    } else {
      found = std::move(at->second);
      values.erase(at);
    }
  }
  done(std::move(found));
}

PINION_DECL void local_rendezvous::abort(const error& why) {
  const outcome<handed_over> aborted = why;
  std::unique_ptr<waiting> gone;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    failure_ = aborted.failure();
    gone = std::move(waiting_);
  }
  if (!gone) return;
  for (auto& [key, done] : gone->receivers) done(aborted);
}

}}}  // namespace pinion::v0::runtime
