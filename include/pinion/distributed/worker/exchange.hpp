// Moves values between this task and the others: pushed within credit, announced and pulled beyond it.
//
// Invariants (numbers of protocol.md in brackets)
//   1. Values pushed to a peer and not yet taken there are at most the credit; the rest waits here, announced. [V1, V2]
//   2. A run that has ended leaves a tombstone, so that a late value is dropped. [V4]
//   3. A value for a run that has not begun waits for it, but only for options.patience. [V5]
//   4. When the channel to a peer goes down, every run in which the peer takes part fails. [F2]
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/worker/remote_rendezvous.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The limits of an exchange.
struct exchange_options {
  std::uint64_t credit = std::uint64_t{4} << 20;      // most bytes pushed to one peer and not yet taken
  rpc::duration patience = std::chrono::seconds(60);  // how long values wait for a run to begin
  std::size_t tombstones = 4096;                      // number of ended runs that are remembered
};

// The peers of a run, each with its incarnation at the time when the step was made.
using incarnations = std::map<std::string, std::uint64_t, std::less<>>;

// The exchange of one task: the rendezvous of its runs, the values it offers, and the credit of each peer. Owned by a
// server. Thread-safe.
class exchange final : public value_carrier {
 public:
  exchange(rpc::network& net, std::string task, peers& others, thread_pool& pool, exchange_options options)
      : net_(net), task_(std::move(task)), peers_(others), pool_(pool), options_(options) {}

  // ---- runs

  // Begins a run and returns its rendezvous; `failed` is called when a peer of the run is lost. Throws cancelled if the
  // run is already over, already_exists if it has begun.
  std::shared_ptr<remote_rendezvous> begin(std::uint64_t run, incarnations of_peers,
                                           std::function<void(const error&)> failed);
  // Ends a run in this task. The values it announced stay until they are pulled, or until forget().
  void end(std::uint64_t run);
  // Forgets a run that is over on every task, or was cancelled, with the values it announced.
  void forget(std::uint64_t run);
  // Drops the values that the runs of a session still offer, since nobody will pull them.
  void forget_session(std::uint64_t session);
  // Drops the values that have waited too long for a run to begin.
  void sweep();
  std::size_t runs() const;

  // Returns the number of values that wait here to be pulled.
  std::size_t offered() const;

  // Forgets the credit account of a peer whose connection is gone.
  void gone(const rpc::guest_ref& who);

  // Returns the channel to a peer, and fails the peer's runs when that channel goes down.
  std::shared_ptr<rpc::channel> way_to(std::string_view task);

  // ---- out

  void carry(std::uint64_t run, const std::string& key, std::string_view to_task, any_tensor value) override;
  void fetch(std::uint64_t run, const std::string& key, std::string_view from_task, fetched done) override;
  void compute(std::function<void()> body) override { pool_.schedule(std::move(body)); }

  // ---- in; in the network's thread

  std::unique_ptr<rpc::incoming> pushed(const rpc::envelope& e, const rpc::guest_ref& from);
  std::unique_ptr<rpc::incoming> announced(const rpc::envelope& e, const rpc::guest_ref& from);
  std::unique_ptr<rpc::incoming> pulled(const rpc::envelope& e, std::shared_ptr<rpc::responder> answer);
  std::unique_ptr<rpc::incoming> credited(const rpc::envelope& e, const rpc::guest_ref& from);

 private:
  struct entry {
    std::shared_ptr<remote_rendezvous> meet;
    bool begun = false;
    time_point born{};
    incarnations peers;
    std::function<void(const error&)> failed;
  };

  // The bytes that one peer has pushed and this task has not yet taken. Credit is returned in portions.
  class account {
   public:
    account(std::shared_ptr<rpc::channel> back, std::uint64_t portion) : back_(std::move(back)), portion_(portion) {}
    std::uint64_t held() const { return held_.load(std::memory_order_relaxed); }
    void hold(std::uint64_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
    void release(std::uint64_t bytes);

   private:
    const std::shared_ptr<rpc::channel> back_;
    const std::uint64_t portion_;
    std::atomic<std::uint64_t> held_{0}, due_{0};
  };

  // Requires: the lock is held.
  template <class Which>
  void drop_offers(const Which& which) {
    for (auto& [run, values] : offers_)
      std::erase_if(values, [&, of = run](const auto& value) { return which(of, value.first); });
    std::erase_if(offers_, [](const auto& offer) { return offer.second.empty(); });
  }
  // Takes a value that waits here to be pulled; an empty one if it is not there.
  any_tensor take_offer(std::uint64_t run, const std::string& key);
  entry& expected(std::uint64_t run);
  // Returns the rendezvous for a value that arrives; null if the value is too late, or its sender has been restarted.
  std::shared_ptr<remote_rendezvous> meeting(std::uint64_t run, const rpc::guest_ref& from);
  entry take(std::uint64_t run);
  void fail(std::uint64_t run, const error& why);
  void lost(const std::string& task, const error& why);
  std::shared_ptr<account> account_of(const rpc::guest_ref& from);

  rpc::network& net_;
  const std::string task_;
  peers& peers_;
  thread_pool& pool_;
  const exchange_options options_;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, entry> runs_;
  std::unordered_map<std::uint64_t, std::map<std::string, any_tensor>> offers_;
  std::map<std::string, std::uint64_t> in_flight_;
  std::unordered_set<std::string> watched_;
  std::unordered_map<std::uint64_t, std::shared_ptr<account>> accounts_;
  std::deque<std::uint64_t> graves_;
  std::unordered_set<std::uint64_t> buried_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/exchange.ipp>
#endif
