// Moves values between this task and the others: pushed within credit, announced and pulled beyond it.
//
// Invariants (numbers of protocol.md in brackets)
//   1. Values pushed to a peer and not yet taken there are at most the credit; the rest waits here, announced. [V1, V2]
//   2. A run that has ended leaves a tombstone, so that a late value is dropped. [V4]
//   3. A value for a run that has not begun waits for it, but only for options.patience, and of one task wait no more
//      than options.early. A run of which more would wait keeps none, and fails when it begins. [V5]
//   4. Memory for a value is taken when its run wants a value of its key, dtype and shape, or has not begun. [V7]
//   5. When the channel to a peer goes down, every run in which the peer takes part fails. When the one from a peer
//   that
//      lives is gone, those do that began before its next, and so do those that await a value and have seen none. The
//      value may have been on the way, and its sender need not care: its part of the run may have ended with it. [F2]
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/distributed/worker/remote_rendezvous.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The limits of an exchange.
struct exchange_options {
  std::uint64_t credit = std::uint64_t{4} << 20;      // most bytes pushed to one peer and not yet taken
  rpc::duration patience = std::chrono::seconds(60);  // how long values wait for a run to begin
  std::size_t tombstones = 1024;                      // number of ended runs of a session that are remembered
  std::size_t early = 4096;                           // most values of one task for runs that have not begun
};

// The peers of a run, each with its incarnation at the time when the step was made.
using incarnations = std::map<std::string, std::uint64_t, std::less<>>;

// The values that a run receives from its peers, by their keys; nothing: a signal without a value.
using awaited_values = std::map<std::string, std::optional<output_type>, std::less<>>;

// The exchange of one task: the rendezvous of its runs, the values it offers, and the credit of each peer. Owned by a
// server. Thread-safe.
class exchange final : public value_carrier {
 public:
  exchange(rpc::network& net, std::string task, peers& others, thread_pool& pool, exchange_options options)
      : net_(net), task_(std::move(task)), peers_(others), pool_(pool), options_(options) {}

  // ---- runs

  // Begins a run and returns its rendezvous; `failed` is called when a peer of the run is lost, or sends what the run
  // does not await. Without `awaited` it takes everything. Throws cancelled if the run is already over, already_exists
  // if it has begun.
  std::shared_ptr<remote_rendezvous> begin(const run_id& run, incarnations of_peers,
                                           std::function<void(const error&)> failed,
                                           std::shared_ptr<const awaited_values> awaited = nullptr);
  // Ends a run in this task. The values it announced stay until they are pulled, or until forget().
  void end(const run_id& run);
  // Forgets a run that is over on every task, or was cancelled, with the values it announced.
  void forget(const run_id& run);
  // Drops the values that the runs of a session still offer, since nobody will pull them.
  void forget_session(const session_id& session);
  // Drops the values that have waited too long for a run to begin, and tombstones that are as old; fails the runs whose
  // values were lost with the channel from their sender. To be called each second or so.
  void sweep();
  std::size_t runs() const;

  // Returns the number of values that wait here to be pulled.
  std::size_t offered() const;

  // Takes note of a client, by whose channel values may come.
  void came(const rpc::guest_ref& who);
  // Forgets the credit account of a client that is gone, and fails the runs that may wait for its values once the
  // client has answered, as a task, on the channel to it. In the network's thread.
  void gone(const rpc::guest_ref& who, const error& why);

  // Is this a task of the cluster?
  bool knows(std::string_view task) const { return peers_.knows(task); }
  // Returns the channel to a peer, and fails the peer's runs when that channel goes down.
  std::shared_ptr<rpc::channel> way_to(std::string_view task);

  // ---- out

  void carry(const run_id& run, const std::string& key, std::string_view to_task, any_tensor value) override;
  void fetch(const run_id& run, const std::string& key, std::string_view from_task, fetched done) override;
  void compute(const run_id& run, std::function<void()> body) override {
    pool_.schedule(std::move(body), run.session.number);
  }

  // ---- in; in the network's thread

  std::unique_ptr<rpc::incoming> pushed(const rpc::envelope& e, const rpc::guest_ref& from);
  std::unique_ptr<rpc::incoming> announced(const rpc::envelope& e, const rpc::guest_ref& from);
  std::unique_ptr<rpc::incoming> pulled(const rpc::envelope& e, const rpc::guest_ref& from,
                                        std::shared_ptr<rpc::responder> answer);
  std::unique_ptr<rpc::incoming> credited(const rpc::envelope& e, const rpc::guest_ref& from);

 private:
  struct entry {
    std::shared_ptr<remote_rendezvous> meet;
    bool begun = false;
    time_point born{};
    incarnations peers;
    std::function<void(const error&)> failed;
    std::shared_ptr<const awaited_values> awaited;  // null: everything
    std::map<std::string, std::size_t> early;       // how many values came before it began, by task
    bool has_lost = false;                          // a peer, and was told
    std::string overrun_by;  // the task of which too many came: the run will not begin, and keeps none of them
  };
  // Counts of what a task has sent for runs that have not begun.
  struct early_counts {
    std::size_t values = 0, overrun = 0;  // values that wait, and runs of which too many would
  };

  // The tombstones of a session, the oldest first.
  struct graves {
    std::deque<std::uint64_t> order;
    std::unordered_set<std::uint64_t> runs;
    time_point last{};  // when it got the last
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
  any_tensor take_offer(const run_id& run, const std::string& key);
  // Requires, for the next six: the lock is held.
  entry& expected(const run_id& run);
  bool is_buried(const run_id& run) const;
  void bury(const run_id& run);
  // Counts a value for a run that has not begun. Returns false if its sender has sent too many: then the run will not
  // begin. Throws resource_exhausted if that is so of too many runs.
  bool may_wait(const std::string& sender, const run_id& run);
  void forget_early(entry& r);
  error too_early(const std::string& sender) const;
  // Throws the reason for which a run that has begun takes no such value from the peer; `is` is null for a value that
  // is announced.
  static void expect_awaited(const entry& r, const std::string& key, const described_value* is, const rpc::guest& from);

  // Returns the rendezvous for a value that arrives; null if the value is too late, or not the one that is awaited:
  // then its run fails.
  std::shared_ptr<remote_rendezvous> meeting(const run_id& run, const std::string& key, const described_value* is,
                                             const rpc::guest_ref& from);
  // The values that a run awaits; null: it awaits any.
  std::shared_ptr<const awaited_values> awaited_by(const run_id& run) const;
  entry take(const run_id& run);
  void fail(const run_id& run, const error& why);
  void lost(const std::string& task, const error& why);
  // Requires: the lock is held. Takes note of the runs with a peer that it concerns.
  template <class Which>
  std::vector<std::function<void(const error&)>> runs_with(const std::string& peer, const Which& concerns) {
    std::vector<std::function<void(const error&)>> found;
    for (auto& [run, r] : runs_)
      if (r.begun && r.peers.contains(peer) && concerns(r) && !std::exchange(r.has_lost, true))
        found.push_back(r.failed);
    return found;
  }
  // Fails the runs with a peer that began no later than `until`, and before the channel came that the peer has.
  void fail_runs_with(const std::string& peer, time_point until, const error& why);
  // Fails the runs that have awaited a value for some seconds without a channel by which it could come.
  void fail_unreachable();
  // Since when a peer has a channel to this task; time_point::max() if it has none. Requires: the lock is held.
  time_point sends_since(const std::string& peer) const;
  void expect_of_cluster(const rpc::guest& from) const;
  std::shared_ptr<account> account_of(const rpc::guest_ref& from);

  rpc::network& net_;
  const std::string task_;
  peers& peers_;
  thread_pool& pool_;
  const exchange_options options_;

  mutable std::mutex mutex_;
  std::unordered_map<run_id, entry, id_hash> runs_;
  std::unordered_map<run_id, std::map<std::string, any_tensor>, id_hash> offers_;
  std::map<std::string, std::uint64_t> in_flight_;
  std::unordered_set<std::string> watched_;
  std::unordered_map<std::uint64_t, std::shared_ptr<account>> accounts_;  // by channel
  std::map<std::string, std::map<std::uint64_t, time_point>> ways_in_;    // since when tasks have their channels
  std::unordered_map<session_id, graves, id_hash> buried_;
  std::map<std::string, early_counts> early_;  // by task
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/exchange.ipp>
#endif
