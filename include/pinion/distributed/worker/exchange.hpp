// Moves values between this task and the others: pushed within credit, announced and pulled beyond it.
//
// Invariants (numbers of protocol.md in brackets)
//   1. Values pushed to a peer and not yet taken there are at most the credit; the rest waits here, announced. [V1, V2]
//   2. A run that has ended leaves a tombstone for options.runs.remembered, so that a late value is dropped. [V4]
//   3. A value for a run that has not begun waits for it, but only for options.runs.max_wait, while its sender has a
//      channel to this task. Of one sender wait no more than options.runs.early, and a quarter of early_bytes. A run
//      of which more would wait, or whose values are gone with their sender, keeps none, and fails when it begins.
//      Senders are told apart by their life and host, so who takes the name of another counts for itself alone. [V5]
//   4. Memory for a value is taken, and its strings are read, when its run has not begun, or wants a value of its key,
//      dtype and shape; long strings are not read in the network's thread. [V7]
//   5. When the channel to a peer goes down, every run in which the peer takes part fails. When the one from a peer
//      that lives is gone, those do that began before its next, and so do those that await a value and have seen none.
//      The value may have been on the way, and its sender need not care: its part of the run may have ended with it.
//      [F2]
//   6. Of the values that wait here for one peer no more than options.offered bytes do: the run of another fails. [V8]
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/distributed/worker/awaited_values.hpp>
#include <pinion/distributed/worker/credit_account.hpp>
#include <pinion/distributed/worker/offers.hpp>
#include <pinion/distributed/worker/remote_rendezvous.hpp>
#include <pinion/distributed/worker/run_table.hpp>
#include <pinion/distributed/worker/sender_channels.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The limits of an exchange.
struct exchange_options {
  run_table_options runs = {};
  std::uint64_t credit = std::uint64_t{4} << 20;   // most bytes pushed to one peer and not yet taken
  std::uint64_t offered = std::uint64_t{8} << 30;  // most bytes that wait until one peer asks for them
};

// The exchange of one task: the rendezvous of its runs, the values it offers, and the credit of each peer. Owned by a
// server. Thread-safe.
class exchange final : public value_carrier {
 public:
  exchange(rpc::network& net, std::string task, peers& others, thread_pool& pool, exchange_options options)
      : net_(net),
        task_(std::move(task)),
        peers_(others),
        pool_(pool),
        options_(options),
        runs_(net, task_, *this, options.runs),
        offers_(options.offered) {}

  // ---- runs

  // Begins a run and returns its rendezvous; `failed` is called when a peer of the run is lost, or sends what the run
  // does not await. Without `awaited` it takes everything. Throws cancelled if the run is already over, already_exists
  // if it has begun.
  std::shared_ptr<remote_rendezvous> begin(const run_id& run, incarnations of_peers,
                                           std::function<void(const error&)> failed,
                                           std::shared_ptr<const awaited_values> awaited = nullptr);
  // The rendezvous of a run. Requires: the run is not over; it need not have begun.
  std::shared_ptr<remote_rendezvous> meeting_of(const run_id& run) {
    std::lock_guard hold(mutex_);
    return runs_.expected(run).meet;
  }
  // Ends a run in this task. The values it announced stay until they are pulled, or until forget().
  void end(const run_id& run);
  // Forgets a run that is over on every task, or was cancelled, with the values it announced.
  void forget(const run_id& run);
  // Has it ended, or was it forgotten? It does not begin any more then.
  bool is_over(const run_id& run) const;
  // Drops the values that the runs of a session still offer, since nobody will pull them.
  void forget_session(const session_id& session);
  // Drops the values that have waited too long for a run to begin, and old tombstones; fails the runs whose values were
  // lost with the channel from their sender. To be called each second or so. Returns whether it dropped anything.
  bool sweep();

  struct counts {
    std::size_t runs = 0;     // that have begun, or for which values have come
    std::size_t offered = 0;  // values that wait here to be pulled
    std::size_t early = 0;    // values that wait here for runs that have not begun
  };
  counts count() const;

  // Takes note of a client, by whose channel values may come.
  void came(const rpc::peer_ref& who);
  // Forgets the credit account of a client that is gone, and fails the runs that may wait for its values once the
  // client has answered, as a task, on the channel to it. In the network's thread.
  void gone(const rpc::peer_ref& who, const error& why);

  // Is this a task of the cluster?
  bool knows(std::string_view task) const { return peers_.knows(task); }
  // Returns the channel to a peer, and fails the peer's runs when that channel goes down.
  std::shared_ptr<rpc::channel> route_to(std::string_view task);

  // ---- out

  void carry(const run_id& run, const transfer_key& key, std::string_view to_task, any_tensor value) override;
  void fetch(const run_id& run, const transfer_key& key, std::string_view from_task, fetched done) override;
  void compute(const run_id& run, std::function<void()> body) override {
    pool_.schedule(std::move(body), run.session.number);
  }

  // ---- in; in the network's thread

  std::unique_ptr<rpc::incoming> pushed(const rpc::envelope& e, const rpc::peer_ref& from);
  std::unique_ptr<rpc::incoming> announced(const rpc::envelope& e, const rpc::peer_ref& from);
  std::unique_ptr<rpc::incoming> pulled(const rpc::envelope& e, const rpc::peer_ref& from,
                                        std::shared_ptr<rpc::responder> answer);
  std::unique_ptr<rpc::incoming> credited(const rpc::envelope& e, const rpc::peer_ref& from);

 private:
  using entry = run_table::entry;

  // Reads the value in a message, of which the outline was read, for a run: long strings in a thread that may compute,
  // and any other value on arrival.
  template <template <class> class Of>
  std::unique_ptr<rpc::incoming> receive_value(const rpc::envelope& e, rpc::reader& in,
                                               const Of<value_outline>& outline, const run_id& run, fetched done);
  // Requires: the lock is held.
  void return_credit_of(std::string_view task, std::uint64_t bytes);

  // Returns the rendezvous for a value that arrives; null if the value is too late, or not the one that is awaited:
  // then its run fails.
  std::shared_ptr<remote_rendezvous> meeting(const run_id& run, const transfer_key& key, const value_outline* is,
                                             std::uint64_t bytes, const rpc::peer_ref& from);
  void fail(const run_id& run, const error& why);
  void lost(const std::string& task, const error& why);
  // Fails the runs with a peer that it concerns, each once. Those that it has not come to when memory runs out, it
  // comes to when it is called again.
  template <class Which>
  void fail_runs_with(const std::string& peer, const Which& concerns, const error& why) {
    std::vector<std::function<void(const error&)>> found;
    const auto all = outcome_of([&] {
      std::lock_guard hold(mutex_);
      for (auto& [run, r] : runs_.all()) {
        if (!r.begun || r.has_lost || !r.peers.contains(peer) || !concerns(r)) continue;
        found.push_back(r.failed);
        r.has_lost = true;
      }
    });
    for (const auto& failed : found) failed(why);
    all.value();
  }
  // Forgets a channel that is gone, and with the last of a sender what it sent early. Returns false if it is no task's.
  bool forget_channel(const rpc::peer& who, const error& why);
  // Fails the runs with a peer that began no later than `until`, and before the channel came that the peer has.
  void fail_runs_with(const std::string& peer, time_point until, const error& why);
  // Fails the runs that have awaited a value for some seconds without a channel by which it could come.
  void fail_unreachable();
  std::shared_ptr<credit_account> account_of(const rpc::peer_ref& from);

  rpc::network& net_;
  const std::string task_;
  peers& peers_;
  thread_pool& pool_;
  const exchange_options options_;

  mutable std::mutex mutex_;
  run_table runs_;
  sender_channels senders_;
  offers offers_;
  std::map<std::string, std::uint64_t, std::less<>> in_flight_;
  std::map<std::string, std::weak_ptr<rpc::channel>, std::less<>> watched_;
  std::unordered_map<std::uint64_t, std::shared_ptr<credit_account>> accounts_;  // by channel
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/exchange.ipp>
#endif
