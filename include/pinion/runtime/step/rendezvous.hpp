// The rendezvous of one step inside one task.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <pinion/base/config.hpp>
#include <pinion/opkit/services.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A rendezvous of values and receivers in one task. Thread-safe. Invariants: under one key waits at most one value or
// one receiver, and a second receiver is refused; callbacks run without the lock; after abort() nothing waits, and
// later receivers get the error at once.
class local_rendezvous final : public rendezvous {
 public:
  void send(const transfer_key& key, handed_over value) override;

  void receive(const transfer_key& key, receiver done) override;

  void abort(const error& why) override;

 private:
  struct waiting {
    std::unordered_map<transfer_key, handed_over> values;
    std::unordered_map<transfer_key, receiver> receivers;
  };
  waiting& waiting_ones();

  std::mutex mutex_;
  shared_error failure_;
  std::unique_ptr<waiting> waiting_;  // null: nothing has waited so far, as in most steps
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/rendezvous.ipp>
#endif
