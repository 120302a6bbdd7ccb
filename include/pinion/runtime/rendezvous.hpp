// The rendezvous of one step inside one task.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/op/services.hpp>

namespace pinion::inline v0::runtime {

// Invariants: under one key at most one of a value and a receiver waits, and a second receiver is refused; callbacks
// run without the lock; after abort() nothing waits, and whoever comes later is told the error at once.
class local_rendezvous final : public rendezvous {
 public:
  void send(const std::string& key, handed_over value) override {
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
    waiting(std::move(value), nullptr);
  }

  void receive(const std::string& key, receiver done) override {
    std::optional<error> failure;
    handed_over value;
    {
      std::lock_guard hold(mutex_);
      const auto at = values_.find(key);
      if (failure_) {
        failure = failure_;
      } else if (at == values_.end()) {
        if (receivers_.try_emplace(key, std::move(done)).second) return;
        failure = received_twice(key);  // and done is still here
      } else {
        value = std::move(at->second);
        values_.erase(at);
      }
    }
    done(std::move(value), failure ? &*failure : nullptr);
  }

  void abort(const error& why) override {
    std::unordered_map<std::string, receiver> waiting;
    {
      std::lock_guard hold(mutex_);
      if (failure_) return;
      failure_ = why;
      waiting.swap(receivers_);
      values_.clear();
    }
    for (auto& [key, done] : waiting) done({}, &why);
  }

 private:
  std::mutex mutex_;
  std::optional<error> failure_;
  std::unordered_map<std::string, handed_over> values_;
  std::unordered_map<std::string, receiver> receivers_;
};

}  // namespace pinion::inline v0::runtime
