// The processor on which a thread runs, and its way off it.
#pragma once

#include <atomic>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Where a thread is that looks for work and yields. Whoever begins to compute has such threads leave its processor:
// they are ready to run for the system, which therefore sees two busy threads on one processor and two on the next, and
// leaves a thread that found work behind the one that computes, for as long as a tick of its clock. Owned by the pool
// of the thread. Does nothing where the system refuses, or is not Linux.
class thread_place {
 public:
  // Tells where the calling thread is, whose place this is, and lets it run again where it was kept off. It calls this
  // whenever it looks for work.
  void settle();
  // Keeps the thread off a processor until it settles again, if it settled there the last time and may run on another.
  // Does nothing to the calling thread. Thread-safe.
  void keep_off(int processor);

  // Returns the processor of the calling thread; below 0: it is not known.
  static int here();

 private:
  std::atomic<int> process_{0}, thread_{0};  // as the system names them; 0: it has not settled yet
  std::atomic<int> at_{-1};                  // where it settled; below 0: nowhere, or it is kept off there
  std::atomic<int> kept_off_{-1};            // below 0: it runs wherever it may
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/thread_place.ipp>
#endif
