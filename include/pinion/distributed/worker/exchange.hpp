// Values between this task and the others: pushed within credit, announced and pulled beyond it.
//
// Invariants (numbers of protocol.md in brackets)
//   1. What is pushed to a peer and not yet taken there is at most the credit; the rest waits here, announced. [V1, V2]
//   2. A run that has ended leaves a tombstone, so that what comes late is dropped. [V4]
//   3. What comes for a run that nobody has begun waits for it, but not for ever. [V5]
//   4. When the way to a peer goes down, every run that it takes part in fails. [F2]
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

struct exchange_options {
  std::uint64_t credit = std::uint64_t{4} << 20;      // bytes on the way to one peer
  rpc::duration patience = std::chrono::seconds(60);  // how long values wait for a run that has not begun
  std::size_t tombstones = 4096;                      // ended runs that are remembered
};

// A peer of a run, as it was when the run's step was made.
using incarnations = std::map<std::string, std::uint64_t, std::less<>>;

// Owned by a server. Thread-safe.
class exchange final : public value_carrier {
 public:
  exchange(rpc::network& net, std::string task, peers& others, thread_pool& pool, exchange_options options)
      : net_(net), task_(std::move(task)), peers_(others), pool_(pool), options_(options) {}

  // ---- runs

  // The rendezvous of a run that begins here; `failed` is called when a peer of it is lost. Throws cancelled for one
  // that is over already, already_exists for one that has begun.
  std::shared_ptr<remote_rendezvous> begin(std::uint64_t run, incarnations of_peers,
                                           std::function<void(const error&)> failed);
  // It has ended here; what it announced stays until it is pulled, or the run is over everywhere.
  void end(std::uint64_t run);
  // It is over everywhere, or was cancelled.
  void forget(std::uint64_t run);
  // What its runs still offer, nobody will pull.
  void forget_session(std::uint64_t session);
  // Drops what has waited too long for a run to begin.
  void sweep();
  std::size_t runs() const;

  // Values that wait here to be pulled.
  std::size_t offered() const;

  void gone(const rpc::guest_ref& who);

  // The way to a peer, watched: when it goes down, so do the runs that take part.
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

  // What one peer has pushed and this task has not yet taken; goes back in portions.
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

  // With the lock.
  template <class Which>
  void drop_offers(const Which& which) {
    for (auto& [run, values] : offers_)
      std::erase_if(values, [&, of = run](const auto& value) { return which(of, value.first); });
    std::erase_if(offers_, [](const auto& offer) { return offer.second.empty(); });
  }
  entry& expected(std::uint64_t run);
  // Where a value of a run goes; null when it comes too late, or from another life of its sender.
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
