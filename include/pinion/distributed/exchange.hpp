// Values between this task and the others: pushed within credit, announced and pulled beyond it.
//
// Invariants (numbers of protocol.md in brackets)
//   1. What is pushed to a peer and not yet taken there is at most the credit; the rest waits here, announced. [V1, V2]
//   2. A run that has ended leaves a tombstone, so that what comes late is dropped. [V4]
//   3. What comes for a run that nobody has begun waits for it, but not for ever. [V5]
//   4. When the way to a peer goes down, every run that it takes part in fails. [F2]
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pinion/base/thread_pool.hpp>
#include <pinion/distributed/peers.hpp>
#include <pinion/distributed/remote_rendezvous.hpp>
#include <pinion/rpc/server.hpp>

namespace pinion::inline v0::distributed {

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
                                           std::function<void(const error&)> failed) {
    std::lock_guard hold(mutex_);
    if (buried_.count(run)) throw error(errc::cancelled, "the run was cancelled before it began");
    auto& r = expected(run);
    if (r.begun) throw error(errc::already_exists, "run " + std::to_string(run) + " has begun here already");
    r.begun = true;
    r.peers = std::move(of_peers);
    r.failed = std::move(failed);
    return r.meet;
  }
  // It has ended here; what it announced stays until it is pulled, or the run is over everywhere.
  void end(std::uint64_t run) {
    const auto ended = take(run);
    const error over(errc::cancelled, "the run has ended");
    if (ended.meet) ended.meet->abort(over);
  }
  // It is over everywhere, or was cancelled.
  void forget(std::uint64_t run) {
    end(run);
    std::lock_guard hold(mutex_);
    offers_.erase(run);
  }
  // What its runs still offer, nobody will pull.
  void forget_session(std::uint64_t session) {
    std::lock_guard hold(mutex_);
    drop_offers([&](std::uint64_t run, const std::string&) { return run >> 32 == session; });
  }
  // Drops what has waited too long for a run to begin.
  void sweep() {
    std::vector<std::shared_ptr<remote_rendezvous>> late;
    {
      std::lock_guard hold(mutex_);
      for (auto at = runs_.begin(); at != runs_.end();) {
        const bool drop = !at->second.begun && net_.now() - at->second.born > options_.patience;
        if (drop) late.push_back(at->second.meet);
        at = drop ? runs_.erase(at) : std::next(at);
      }
    }
    for (const auto& meet : late) meet->abort(error(errc::cancelled, "the run never began here"));
  }
  std::size_t runs() const {
    std::lock_guard hold(mutex_);
    return runs_.size();
  }

  // Values that wait here to be pulled.
  std::size_t offered() const {
    std::lock_guard hold(mutex_);
    std::size_t n = 0;
    for (const auto& [run, values] : offers_) n += values.size();
    return n;
  }

  void gone(const rpc::guest_ref& who) {
    std::lock_guard hold(mutex_);
    accounts_.erase(who->channel);
  }

  // The way to a peer, watched: when it goes down, so do the runs that take part.
  std::shared_ptr<rpc::channel> way_to(std::string_view task) {
    auto way = peers_.way_to(task);
    std::lock_guard hold(mutex_);
    if (watched_.insert(std::string(task)).second)
      way->observe([this, task = std::string(task)](const error& why) { lost(task, why); });
    return way;
  }

  // ---- out

  void carry(std::uint64_t run, const std::string& key, std::string_view to_task, any_tensor value) override {
    const auto way = way_to(to_task);
    if (!way->up()) return fail(run, way->why_down());
    const std::uint64_t bytes = value.empty() ? 0 : value.bytes();
    bool push = false;
    {
      std::lock_guard hold(mutex_);
      auto& on_the_way = in_flight_[std::string(to_task)];
      push = on_the_way + bytes <= options_.credit;
      if (push)
        on_the_way += bytes;
      else
        offers_[run].emplace(key, value);
    }
    if (push)
      way->notify(rpc::lane::data, push_value::method, rpc::encode(push_value{run, key, std::move(value)}));
    else
      way->notify(rpc::lane::data, announce_value::method, rpc::encode(announce_value{run, key}));
  }
  void fetch(std::uint64_t run, const std::string& key, std::string_view from_task, fetched done) override {
    rpc::call<pulled_value>(
        *way_to(from_task), rpc::lane::data, pull_value{run, key},
        std::function<void(pulled_value, const error*)>(
            [done = std::move(done)](pulled_value v, const error* failed) { done(std::move(v.value), failed); }));
  }
  void compute(std::function<void()> body) override { pool_.schedule(std::move(body)); }

  // ---- in; in the network's thread

  std::unique_ptr<rpc::incoming> pushed(const rpc::envelope& e, const rpc::guest_ref& from) {
    const auto of_peer = account_of(from);
    const std::uint64_t most = 16 * options_.credit;
    if (of_peer->held() + e.payload > std::max(most, std::uint64_t{256} << 20))
      throw error(errc::resource_exhausted, from->name + " pushed more than its credit");
    return rpc::receive<push_value>(e, [this, from, of_peer](push_value&& v) {
      const std::uint64_t bytes = v.value.empty() ? 0 : v.value.bytes();
      of_peer->hold(bytes);
      std::shared_ptr<void> credit(nullptr, [of_peer, bytes](void*) { of_peer->release(bytes); });
      if (const auto meet = meeting(v.run, from)) meet->arrive(v.key, {std::move(v.value), std::move(credit)});
    });
  }
  std::unique_ptr<rpc::incoming> announced(const rpc::envelope& e, const rpc::guest_ref& from) {
    return rpc::receive<announce_value>(e, [this, from](announce_value&& v) {
      if (!peers_.knows(from->name)) return;
      if (const auto meet = meeting(v.run, from)) meet->announce(v.key, from->name);
    });
  }
  std::unique_ptr<rpc::incoming> pulled(const rpc::envelope& e, std::shared_ptr<rpc::responder> answer) {
    return rpc::receive<pull_value>(e, [this, answer](pull_value&& v) {
      pulled_value found;
      {
        std::lock_guard hold(mutex_);
        const auto run = offers_.find(v.run);
        if (run != offers_.end()) {
          if (const auto at = run->second.find(v.key); at != run->second.end()) {
            found.value = std::move(at->second);
            run->second.erase(at);
          }
          if (run->second.empty()) offers_.erase(run);
        }
      }
      if (found.value.empty())
        answer->fail(error(errc::cancelled, "the value '" + v.key + "' is no longer there: its run was cancelled"));
      else
        answer->reply(rpc::encode(found));
    });
  }
  std::unique_ptr<rpc::incoming> credited(const rpc::envelope& e, const rpc::guest_ref& from) {
    return rpc::receive<return_credit>(e, [this, from](return_credit&& c) {
      std::lock_guard hold(mutex_);
      auto& on_the_way = in_flight_[from->name];
      on_the_way -= std::min(on_the_way, c.bytes);
    });
  }

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
    void release(std::uint64_t bytes) {
      held_.fetch_sub(bytes, std::memory_order_relaxed);
      const auto due = due_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      if (due < portion_ || !back_->up()) return;
      const auto all = due_.exchange(0, std::memory_order_relaxed);
      if (all > 0) back_->notify(rpc::lane::data, return_credit::method, rpc::encode(return_credit{all}));
    }

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
  entry& expected(std::uint64_t run) {
    auto& r = runs_[run];
    if (!r.meet) {
      r.meet = std::make_shared<remote_rendezvous>(run, task_, *this);
      r.born = net_.now();
    }
    return r;
  }
  // Where a value of a run goes; null when it comes too late, or from another life of its sender.
  std::shared_ptr<remote_rendezvous> meeting(std::uint64_t run, const rpc::guest_ref& from) {
    std::function<void(const error&)> failed;
    {
      std::lock_guard hold(mutex_);
      if (buried_.count(run)) return nullptr;
      auto& r = expected(run);
      const auto peer = r.peers.find(from->name);
      if (!r.begun || (peer != r.peers.end() && peer->second == from->incarnation)) return r.meet;
      failed = r.failed;
    }
    failed(error(errc::aborted, from->name + " was restarted, or takes no part in this run").in_task(from->name));
    return nullptr;
  }
  entry take(std::uint64_t run) {
    std::lock_guard hold(mutex_);
    if (buried_.insert(run).second) graves_.push_back(run);
    if (graves_.size() > options_.tombstones) {
      buried_.erase(graves_.front());
      graves_.pop_front();
    }
    const auto at = runs_.find(run);
    if (at == runs_.end()) return {};
    auto taken = std::move(at->second);
    runs_.erase(at);
    return taken;
  }
  void fail(std::uint64_t run, const error& why) {
    std::function<void(const error&)> failed;
    {
      std::lock_guard hold(mutex_);
      if (const auto at = runs_.find(run); at != runs_.end()) failed = at->second.failed;
    }
    if (failed) failed(why);
  }
  void lost(const std::string& task, const error& why) {
    std::vector<std::function<void(const error&)>> concerned;
    {
      std::lock_guard hold(mutex_);
      in_flight_[task] = 0;
      drop_offers(
          [&](std::uint64_t, const std::string& key) { return task_of_device(runtime::destination_of(key)) == task; });
      for (const auto& [run, r] : runs_)
        if (r.begun && r.peers.find(task) != r.peers.end()) concerned.push_back(r.failed);
    }
    for (const auto& failed : concerned) failed(why);
  }
  std::shared_ptr<account> account_of(const rpc::guest_ref& from) {
    if (!peers_.knows(from->name)) throw error(errc::permission_denied, "values come from tasks of the cluster only");
    auto back = peers_.way_to(from->name);
    std::lock_guard hold(mutex_);
    auto& found = accounts_[from->channel];
    if (!found) found = std::make_shared<account>(std::move(back), std::max<std::uint64_t>(options_.credit / 4, 1));
    return found;
  }

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

}  // namespace pinion::inline v0::distributed
