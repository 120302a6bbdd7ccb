// Threads for calls that wait for others.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// One thread a call, since each may wait long and for another; they are rare. Joined here: ended ones at the next call,
// all by join() and by the destructor, which waits for them as long as it takes. Thread-safe.
class calls {
 public:
  ~calls() { join(time_point::max()); }
  void begin(std::function<void()> call);
  // False where one has not ended by then; those are left to a later join().
  bool join(time_point until);

 private:
  struct one {
    std::thread thread;
    bool ended = false;
  };
  // With the lock.
  bool none_runs() const;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<one> under_way_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/calls.ipp>
#endif
