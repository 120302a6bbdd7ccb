// The rendezvous of one run in one task of a cluster: values meet their receivers, from this task and from others.
//
// Invariants
//   1. Under one key there is at most one value, one announcement and one receiver, and each is used once; a second
//      receiver is refused, and a value is fetched once, however often it is announced.
//   2. A pushed value holds its sender's credit until it is taken or dropped.
//   3. After abort() nothing waits and nothing is kept: later values are dropped, and later receivers get the error.
//   4. Callbacks run without the lock; those for values from other tasks run in a thread that may compute, or in
//      an inline run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/run_id.hpp>
#include <pinion/opkit/services.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The functions of its task that a rendezvous uses: sending a value, fetching an announced one, and running a callback.
class value_carrier {
 public:
  using fetched = completion<any_tensor>;
  virtual ~value_carrier() = default;
  virtual void carry(const run_id& run, const transfer_key& key, std::string_view to_task, any_tensor value) = 0;
  virtual void fetch(const run_id& run, const transfer_key& key, std::string_view from_task, fetched done) = 0;
  // Runs the body, for that run, in a thread that may compute.
  virtual void compute(const run_id& run, std::function<void()> body) = 0;
};

// A value from another task. The credit of its sender is returned when `credit` is destroyed.
struct arrival {
  any_tensor value;
  std::shared_ptr<void> credit;
};

// The rendezvous of a run. Shared by the run and by messages on their way. Thread-safe.
class remote_rendezvous final : public rendezvous, public std::enable_shared_from_this<remote_rendezvous> {
 public:
  remote_rendezvous(run_id run, std::string task, value_carrier& carrier)
      : run_(std::move(run)), task_(std::move(task)), carrier_(carrier) {}

  const run_id& run() const { return run_; }

  // Says that receivers take their values in some microseconds, and put by what takes longer where they come
  // in an inline run, so that they may run in any thread. Before the first receive().
  void takes_briefly() {
    std::lock_guard hold(mutex_);
    brief_ = true;
  }

  void send(const transfer_key& key, handed_over value) override;

  void receive(const transfer_key& key, receiver done) override;

  void abort(const error& why) override;

  // ---- from other tasks

  void arrive(const transfer_key& key, arrival a);
  void announce(const transfer_key& key, const std::string& by);

  // Returns a key that a receiver waits for, if there is one a key of a value from another task; an empty one if none
  // does.
  transfer_key missing() const;

 private:
  // Requires: the lock is held.
  receiver take_receiver(const transfer_key& key);
  bool take_value(const transfer_key& key, handed_over& value);

  void fetch(const transfer_key& key, const std::string& from);

  const run_id run_;
  const std::string task_;
  value_carrier& carrier_;
  mutable std::mutex mutex_;
  bool brief_ = false;
  shared_error failure_;
  std::unordered_map<transfer_key, handed_over> local_;
  std::map<transfer_key, arrival> arrived_;  // ordered, like the next two: others choose these keys
  std::map<transfer_key, std::string> announced_;
  std::set<transfer_key> fetched_;  // keys of values that were asked for
  std::unordered_map<transfer_key, receiver> receivers_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/remote_rendezvous.ipp>
#endif
