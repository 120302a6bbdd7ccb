// Threads for calls that wait for others.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace pinion::inline v0::distributed {

// One thread a call, since each may wait long and for another; they are rare. Joined here: ended ones at the next call,
// all by join(). Thread-safe.
class calls {
 public:
  ~calls() { join(); }
  void begin(std::function<void()> call) {
    std::lock_guard hold(mutex_);
    under_way_.remove_if([](one& c) {
      if (!c.ended) return false;
      c.thread.join();
      return true;
    });
    one& c = under_way_.emplace_back();
    c.thread = std::thread([&c, call = std::move(call)] {
      call();
      c.ended = true;
    });
  }
  void join() {
    std::list<one> all;
    {
      std::lock_guard hold(mutex_);
      all.swap(under_way_);
    }
    for (one& c : all) c.thread.join();
  }

 private:
  struct one {
    std::thread thread;
    std::atomic<bool> ended{false};
  };
  std::mutex mutex_;
  std::list<one> under_way_;
};

}  // namespace pinion::inline v0::distributed
