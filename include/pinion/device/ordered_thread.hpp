// A thread that runs functions in the order in which they were given to it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// A queue of functions and its thread. A device calls back in such a thread, and a simulated stream works in one.
// Thread-safe. It owns the thread; the destructor runs what is queued and joins it, so no function may destroy it. A
// function must not throw; it is destroyed before the next one runs.
class ordered_thread {
 public:
  ordered_thread() : thread_([this] { work(); }) {}
  ordered_thread(const ordered_thread&) = delete;
  ~ordered_thread();

  // Adds a function behind the others.
  void post(std::function<void()> f);
  // Waits until every function that was posted before has ended. Requires: the caller is none of them.
  void settle();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/ordered_thread.ipp>
#endif
