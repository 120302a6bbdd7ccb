// Threads for what takes long but waits for nobody: reading, admitting, compiling and letting go of graphs.
//
// Invariants
//   1. Work under one key is done in the order in which it was added, one after the other; keys take turns.
//   2. No lock is held while work is done.
//   3. Where cores are few, running steps go first.
#pragma once

#include <sys/resource.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/thread_pool.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Owned by a server. Thread-safe. With no threads, add() works in its caller. Work must not throw. The destructor does
// what was added.
class builders {
 public:
  using work = std::function<void()>;
  explicit builders(int threads) : pool_(threads) {}

  void add(std::uint64_t key, work what);

  // Waits until nothing is left to do; false where that took too long.
  bool wait_until_idle(time_point until);

 private:
  // Work stays in front of its line while it is done, so that others wait behind it.
  void take_turn(std::uint64_t key);

  // Linux counts niceness by thread; that of the threads that it starts too. With five it gets a quarter of a core that
  // others want.
  static bool let_others_first() { return ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + 5) == 0; }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<std::uint64_t, std::deque<work>> lines_;
  thread_pool pool_;  // joined before the rest goes
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/builders.ipp>
#endif
