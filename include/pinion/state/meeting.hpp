// A resource at which replicas wait for each other: what the barrier and the clock have in common.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/seconds_text.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/state/members.hpp>
#include <pinion/state/waiter.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The base of such a resource. It owns the lock, the replicas that take part, and the calls of each that wait. `Calls`
// is the list of one replica's calls, a waiters<...>. `Counters` is a value.
//
// Owned by the task's resource manager and by the kernels that use it. Thread-safe. A call that waits holds no thread:
// its `done` is called when it ends, without the lock, in any thread.
template <class Calls, class Counters>
class meeting : public resource, public std::enable_shared_from_this<meeting<Calls, Counters>> {
 public:
  const std::string& name() const { return name_; }
  // The number of replicas that have not left.
  std::int64_t live() const {
    std::lock_guard hold(mutex_);
    return members_.live();
  }
  Counters counters() const {
    std::lock_guard hold(mutex_);
    return counters_;
  }
  // Notes that a replica has left, so that the others do not wait for it. Throws invalid_argument for a number out of
  // range.
  void leave(std::int64_t replica) {
    change([&](calls& later) {
      members_.leave(replica);
      go_on(later);
    });
  }
  // Drops replicas for which others have waited longer than `limit`, and which were not heard of in that time.
  void expire(std::chrono::milliseconds limit) {
    change([&](calls& later) {
      const auto now = time::now(), since = now - limit;
      if (const auto waiting = waits_since(); waiting && *waiting <= since)
        for (const std::int64_t r : members_.expire(since, who_waits()))
          tell_all("goes on at " + title_ + " without " + members_.title(r) + ", not heard of for " +
                   seconds_text(members_.silence(r, now)));
      go_on(later);
    });
  }
  // Drops the replicas of a lost task at once.
  void lost(const std::string& task, const error& why) override {
    change([&](calls& later) {
      for (const std::int64_t r : members_.lose(task))
        tell_all("goes on at " + title_ + " without " + members_.title(r) + ", which is lost: " + why.sentence());
      go_on(later);
    });
  }
  // Returns what a replica has not been told so far: for whom it waits, once it has waited for `least` and then each
  // time it has waited twice as long; who was dropped, or is back. The texts go on where the name of its task ends.
  std::vector<std::string> news_of(std::int64_t replica, std::chrono::milliseconds least) {
    std::lock_guard hold(mutex_);
    members_.expect(replica);
    std::vector<std::string> all = std::exchange(news_[replica], {});
    const auto call = waiting_.find(replica);
    if (call == waiting_.end() || call->second->empty()) return all;
    auto& [since, told] = waits_[replica];
    const auto waited = time::now() - since;
    if (waited < std::max<time::duration>(2 * told, least)) return all;
    told = waited;
    all.push_back("has waited " + seconds_text(waited) + " at " + title_ + " for " + whom_waits(replica));
    return all;
  }

 protected:
  using calls = typename Calls::calls;
  using time = replica_members::clock;

  // `kind` names the resource in errors: "barrier".
  meeting(const std::string& kind, std::string name, std::int64_t total)
      : name_(std::move(name)), title_(kind + " '" + name_ + "'"), members_(total) {}

  // Runs body(later) with the lock held, and makes the calls that it collected when the lock is released, also where it
  // throws.
  template <class Body>
  void change(Body&& body) {
    calls later;
    std::exception_ptr broken;
    {
      std::lock_guard hold(mutex_);
      try {
        body(later);
      } catch (...) {
        broken = std::current_exception();
      }
    }
    for (const auto& call : later) call();
    if (broken) std::rethrow_exception(broken);
  }

  // ---- with the lock held

  // Ends the waiting calls that need not wait any longer.
  virtual void go_on(calls& later) = 0;
  // The time since which replicas have waited for others, if any do.
  virtual std::optional<time::time_point> waits_since() const = 0;
  // Does the first replica, which waits, wait for the second, which does not?
  virtual bool waits_for(std::int64_t waiting, std::int64_t other) const = 0;

  // Registers a replica of a task, and returns its number: see replica_members::number_for.
  std::int64_t let_in(std::int64_t wanted, const std::string& task) {
    const auto replica = members_.number_for(wanted, who_waits());
    members_.enter(replica, task);
    hear(replica);
    news_.erase(replica);
    return replica;
  }
  void hear(std::int64_t replica) {
    if (members_.hear(replica)) tell_all("meets " + members_.title(replica) + " again at " + title_, replica);
  }

  // Adds a call to a replica's calls that wait, and returns these. A call whose step is cancelled no longer waits.
  Calls& wait(std::int64_t replica, cancellation* stop, typename Calls::done done, calls& later) {
    auto& waiting = waiting_[replica];
    if (!waiting) waiting = std::make_shared<Calls>();
    if (waiting->empty()) waits_[replica] = {time::now(), {}};
    waiting->add(std::pair(this->shared_from_this(), waiting), mutex_, stop, std::move(done), title_, later);
    return *waiting;
  }
  // Leaves a text for all replicas that are there but one.
  void tell_all(const std::string& text, std::int64_t but = -1) {
    for (const auto& there : members_.there())
      if (auto& news = news_[there.first]; there.first != but && news.size() < most_news) news.push_back(text);
  }
  // The replicas for which one waits, with their tasks, and when they were last heard.
  std::string whom_waits(std::int64_t replica) const {
    const auto now = time::now();
    const auto waiting = who_waits();
    std::string all;
    int more = -most_named;
    for (std::int64_t r = 0; r < members_.total(); ++r) {
      if (!members_.is_live(r) || waiting.count(r) > 0 || !waits_for(replica, r) || ++more > 0) continue;
      all += (all.empty() ? "" : "; ") + members_.title(r) + ", not heard of for " +
             seconds_text(members_.silence(r, now));
    }
    if (more > 0) all += "; and " + std::to_string(more) + " more";
    return all.empty() ? "the chief, which makes the update" : all;
  }
  std::set<std::int64_t> who_waits() const {
    std::set<std::int64_t> all;
    for (const auto& [replica, waiting] : waiting_)
      if (!waiting->empty()) all.insert(replica);
    return all;
  }

  const std::string name_;
  const std::string title_;  // the kind and the name, for errors: "barrier 'sync'"
  mutable std::mutex mutex_;
  replica_members members_;
  std::map<std::int64_t, std::shared_ptr<Calls>> waiting_;
  Counters counters_;

 private:
  static constexpr std::size_t most_news = 16;  // for a replica that does not ask
  static constexpr int most_named = 3;          // replicas in one text
  // A replica's wait: when it began, and how long it was when the replica was last told of it.
  struct wait_so_far {
    time::time_point since{};
    time::duration told{};
  };
  std::map<std::int64_t, wait_so_far> waits_;
  std::map<std::int64_t, std::vector<std::string>> news_;
};

}}}  // namespace pinion::v0::state
