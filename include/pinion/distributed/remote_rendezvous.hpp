// The rendezvous of one run in one task of a cluster: values meet their receivers, from here and from other tasks.
//
// Invariants
//   1. Under one key there is at most one of a value, an announcement and a receiver, and each is used once; a second
//      receiver is refused.
//   2. A value that was pushed holds its sender's credit until it is taken or dropped.
//   3. After abort() nothing waits and nothing is kept; whatever comes later is dropped, and whoever asks is told why.
//   4. Callbacks run without the lock; those for values from other tasks in a thread that may compute.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/distributed/messages.hpp>
#include <pinion/op/services.hpp>
#include <pinion/runtime/transfer_key.hpp>

namespace pinion::inline v0::distributed {

// What a rendezvous needs of the task it stands in.
class value_carrier {
 public:
  using fetched = std::function<void(any_tensor, const error*)>;
  virtual ~value_carrier() = default;
  virtual void carry(std::uint64_t run, const std::string& key, std::string_view to_task, any_tensor value) = 0;
  virtual void fetch(std::uint64_t run, const std::string& key, std::string_view from_task, fetched done) = 0;
  virtual void compute(std::function<void()> body) = 0;  // in a thread that may
};

// A value from another task, and what it holds of its sender's credit.
struct arrival {
  any_tensor value;
  std::shared_ptr<void> credit;
};

// Shared by the run and by messages on their way. Thread-safe.
class remote_rendezvous final : public rendezvous, public std::enable_shared_from_this<remote_rendezvous> {
 public:
  remote_rendezvous(std::uint64_t run, std::string task, value_carrier& carrier)
      : run_(run), task_(std::move(task)), carrier_(carrier) {}

  std::uint64_t run() const { return run_; }

  void send(const std::string& key, handed_over value) override {
    const auto to = task_of_device(runtime::destination_of(key));
    if (to != task_) return carrier_.carry(run_, key, to, std::move(value.value));
    receiver waiting;
    {
      std::lock_guard hold(mutex_);
      if (failure_) return;
      waiting = take_receiver(key);
      if (!waiting) local_.emplace(key, std::move(value));
    }
    if (waiting) waiting(std::move(value), nullptr);
  }

  void receive(const std::string& key, receiver done) override {
    std::optional<error> failure;
    handed_over value;
    std::string announced_by;
    {
      std::lock_guard hold(mutex_);
      failure = failure_;
      if (!failure && !take_value(key, value)) {
        if (receivers_.try_emplace(key, std::move(done)).second) {
          const auto at = announced_.find(key);
          if (at == announced_.end()) return;
          announced_by = std::move(at->second);
          announced_.erase(at);
        } else {
          failure = received_twice(key);  // and done is still here
        }
      }
    }
    if (!announced_by.empty()) return fetch(key, announced_by);
    done(std::move(value), failure ? &*failure : nullptr);
  }

  void abort(const error& why) override {
    std::unordered_map<std::string, receiver> waiting;
    {
      std::lock_guard hold(mutex_);
      if (failure_) return;
      failure_ = why;
      waiting.swap(receivers_);
      local_.clear();
      arrived_.clear();
      announced_.clear();
    }
    for (auto& [key, done] : waiting) done({}, &why);
  }

  // ---- from other tasks

  void arrive(const std::string& key, arrival a) {
    receiver waiting;
    {
      std::lock_guard hold(mutex_);
      if (failure_) return;
      waiting = take_receiver(key);
      if (!waiting) arrived_.emplace(key, std::move(a));
    }
    if (waiting)
      carrier_.compute([waiting = std::move(waiting), value = std::move(a.value)] { waiting({value}, nullptr); });
  }
  void announce(const std::string& key, const std::string& by) {
    {
      std::lock_guard hold(mutex_);
      if (failure_) return;
      if (receivers_.count(key) == 0) {
        announced_.emplace(key, by);
        return;
      }
    }
    fetch(key, by);
  }

  // A key that is waited for, or "".
  std::string missing() const {
    std::lock_guard hold(mutex_);
    return receivers_.empty() ? std::string() : receivers_.begin()->first;
  }

 private:
  // With the lock.
  receiver take_receiver(const std::string& key) {
    const auto at = receivers_.find(key);
    if (at == receivers_.end()) return nullptr;
    auto taken = std::move(at->second);
    receivers_.erase(at);
    return taken;
  }
  bool take_value(const std::string& key, handed_over& value) {
    if (const auto at = local_.find(key); at != local_.end()) {
      value = std::move(at->second);
      local_.erase(at);
      return true;
    }
    if (const auto at = arrived_.find(key); at != arrived_.end()) {
      value = {std::move(at->second.value)};
      arrived_.erase(at);
      return true;
    }
    return false;
  }

  void fetch(const std::string& key, const std::string& from) {
    carrier_.fetch(run_, key, from, [self = shared_from_this(), key](any_tensor value, const error* failed) {
      if (!failed) return self->arrive(key, {std::move(value), {}});
      receiver waiting;
      {
        std::lock_guard hold(self->mutex_);
        waiting = self->take_receiver(key);
      }
      if (waiting) waiting({}, failed);
    });
  }

  const std::uint64_t run_;
  const std::string task_;
  value_carrier& carrier_;
  mutable std::mutex mutex_;
  std::optional<error> failure_;
  std::unordered_map<std::string, handed_over> local_;
  std::unordered_map<std::string, arrival> arrived_;
  std::unordered_map<std::string, std::string> announced_;
  std::unordered_map<std::string, receiver> receivers_;
};

}  // namespace pinion::inline v0::distributed
