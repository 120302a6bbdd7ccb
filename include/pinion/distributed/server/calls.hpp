// Threads for the calls of clients that wait for other tasks.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Runs each call in a thread of its own, since a call may wait long for another task, and calls are rare. Owned by a
// server. Thread-safe. Threads that have ended are joined at the next begin(), all of them by join() and by the
// destructor, which waits without limit.
class calls {
 public:
  ~calls() { join(time_point::max()); }
  void begin(std::function<void()> call);
  // Joins the calls that end until then. Returns false if some have not; a later join() gets those.
  bool join(time_point until);

 private:
  struct one {
    std::thread thread;
    bool ended = false;
  };
  // Requires: the lock is held.
  bool none_runs() const;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<one> under_way_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/calls.ipp>
#endif
