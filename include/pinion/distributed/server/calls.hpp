// Threads for the calls of clients that wait for other tasks.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Runs calls in threads that are made when they are needed, since a call may wait long for another task, and calls are
// rare. Owned by a server. Thread-safe. Threads that have ended are joined at the next begin(), all of them by join()
// and by the destructor, which waits without limit.
//
// There are at most `threads` of them, a quarter of which work for one client; other calls wait, and clients are served
// round robin.
class calls {
 public:
  using call = std::function<void()>;
  explicit calls(int threads) : most_(std::max(threads, 1)), share_(std::max(most_ / 4, 1)) {}
  ~calls() { join(time_point::max()); }
  // Runs a call of a client, which must not throw, now or when a thread is free. Throws resource_exhausted if no thread
  // can be started and none will come for it, or if the client has too many calls waiting.
  void begin(std::uint64_t client, call what);
  // Drops the calls of a client that have not begun, and cancels those that run (cancellable_work).
  void drop(std::uint64_t client);
  // Joins the threads that end until then. Returns false if some have not; a later join() gets those.
  bool join(time_point until);

 private:
  struct one {
    std::thread thread;
    bool ended = false;
  };
  struct line {
    std::deque<call> waiting;
    int at_work = 0;
    cancellation dropped = {};
  };
  static constexpr std::size_t most_waiting = 1024;  // of one client

  // Requires, for all but work(): the lock is held.
  //
  // Is there a call that may begin, room for a thread, and none that comes already?
  bool wants_thread();
  void start_thread();
  bool none_runs() const;
  // The next client to be served, round robin; the end if there is none.
  std::map<std::uint64_t, line>::iterator next();
  void work(one& mine);

  const int most_, share_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<one> threads_;
  int running_ = 0;      // threads that have not ended
  bool coming_ = false;  // is one of them on its way to its first call?
  std::map<std::uint64_t, line> lines_;
  std::uint64_t last_ = 0;  // the client that was served last
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/calls.ipp>
#endif
