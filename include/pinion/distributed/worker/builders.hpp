// Threads for long work that waits for nobody: reading, checking, compiling and freeing graphs.
//
// Invariants
//   1. Work under one key is done in the order in which it was added, one piece after the other; keys are served round
//      robin.
//   2. No lock is held while work is done.
//   3. Where cores are few, running steps have priority.
#pragma once

#include <sys/resource.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/thread_pool.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A pool with one queue per key. Owned by a server. Thread-safe. With no threads, add() does the work in its caller.
// Work must not throw. The destructor finishes the work that was added and
// not dropped.
class builders {
 public:
  using work = std::function<void()>;
  explicit builders(int threads, int most_spares = 0) : pool_(threads, 0, most_spares) {}

  // Throws before the work is added, or not at all.
  void add(std::uint64_t key, work what);
  // Drops the work of a key that is not begun, and cancels that which is under way (cancellable_work), since nobody
  // waits for it any more.
  void drop(std::uint64_t key);

  // Waits until no work is left. Returns false if some is left at `until`.
  bool wait_until_idle(time_point until);

 private:
  // Does the next work of a key, and then lets the other keys have theirs.
  void run_next(std::uint64_t key);
  // Does the next work of a key. Returns whether there is more.
  bool do_next(std::uint64_t key);

  // Lowers the priority of the calling thread. Linux keeps niceness per thread, and threads inherit it. With a niceness
  // of 5 a thread gets about a quarter of a core that others want.
  static bool let_others_first() { return ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + 5) == 0; }

  std::mutex mutex_;
  std::condition_variable idle_;
  struct piece {
    work what;
    std::shared_ptr<cancellation> dropped;
  };
  struct line {
    std::deque<piece> waiting;
    std::shared_ptr<cancellation> under_way;  // null: nothing is
  };
  // A line is there while work of its key waits or is under way.
  std::unordered_map<std::uint64_t, line> lines_;
  thread_pool pool_;  // joined before the members above are destroyed
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/builders.ipp>
#endif
