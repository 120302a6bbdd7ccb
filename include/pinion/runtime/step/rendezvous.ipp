// Bodies of <pinion/runtime/step/rendezvous.hpp>.
#pragma once

#include <utility>

#include <pinion/runtime/step/rendezvous.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void local_rendezvous::send(const std::string& key, handed_over value) {
  receiver waiting;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    const auto at = receivers_.find(key);
    if (at == receivers_.end()) {
      values_.emplace(key, std::move(value));
      return;
    }
    waiting = std::move(at->second);
    receivers_.erase(at);
  }
  waiting(std::move(value));
}

PINION_DECL void local_rendezvous::receive(const std::string& key, receiver done) {
  outcome<handed_over> found = handed_over();
  {
    std::lock_guard hold(mutex_);
    const auto at = values_.find(key);
    if (failure_) {
      found = failure_;
    } else if (at == values_.end()) {
      if (receivers_.try_emplace(key, std::move(done)).second) return;
      found = received_twice(key);  // the receiver was not taken, and is called below
    } else {
      found = std::move(at->second);
      values_.erase(at);
    }
  }
  done(std::move(found));
}

PINION_DECL void local_rendezvous::abort(const error& why) {
  const outcome<handed_over> aborted = why;
  std::unordered_map<std::string, receiver> waiting;
  {
    std::lock_guard hold(mutex_);
    if (failure_) return;
    failure_ = aborted.failure();
    waiting.swap(receivers_);
    values_.clear();
  }
  for (auto& [key, done] : waiting) done(aborted);
}

}}}  // namespace pinion::v0::runtime
