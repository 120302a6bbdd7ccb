// Threads for calls that wait for others.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <pinion/base/countdown.hpp>

namespace pinion::inline v0::distributed {

// One thread a call, since each may wait long and for another; they are rare. Joined here: ended ones at the next call,
// all by join() and by the destructor, which waits for them as long as it takes. Thread-safe.
class calls {
 public:
  ~calls() { join(time_point::max()); }
  void begin(std::function<void()> call) {
    std::lock_guard hold(mutex_);
    under_way_.remove_if([](one& c) {
      if (!c.ended) return false;
      c.thread.join();
      return true;
    });
    one& c = under_way_.emplace_back();
    c.thread = std::thread([this, &c, call = std::move(call)]() mutable {
      call();
      call = nullptr;
      std::lock_guard held(mutex_);
      c.ended = true;
      ended_.notify_all();
    });
  }
  // False where one has not ended by then; those are left to a later join().
  bool join(time_point until) {
    std::list<one> over;
    std::unique_lock hold(mutex_);
    const bool all = ended_.wait_until(hold, until, [this] { return none_runs(); });
    for (auto at = under_way_.begin(); at != under_way_.end();) {
      const auto next = std::next(at);
      if (at->ended) over.splice(over.end(), under_way_, at);
      at = next;
    }
    hold.unlock();
    for (one& c : over) c.thread.join();
    return all;
  }

 private:
  struct one {
    std::thread thread;
    bool ended = false;
  };
  // With the lock.
  bool none_runs() const {
    for (const one& c : under_way_)
      if (!c.ended) return false;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<one> under_way_;
};

}  // namespace pinion::inline v0::distributed
