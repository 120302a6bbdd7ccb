// Being asked by the system to stop: SIGINT and SIGTERM, told to those who listen, outside of the signal's handler.
//
// Invariants
//   1. The handler touches nothing but lock-free atomics and a pipe; all else happens in threads of ours.
//   2. A signal has our handler only where it had the default one, and only while somebody listens. A second one ends
//      the process, as the default handler does.
//   3. A process that was asked once stays asked: who listens later is told at once.
//   4. Those who serve are told when all who save are done.
//   5. A child that was forked is on its own: there the signal does what it does without us.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Those who save have to be done before those who serve are told.
enum class stop_turn { saves, serves };

namespace detail {

// The one place where signals of this process arrive. Lives as long as the process. Thread-safe.
class stop_signals {
 public:
  struct told {
    stop_turn turn;
    std::function<void(int)> tell;
    bool begun = false, busy = false;
    std::thread thread;
  };
  using place = std::list<told>::iterator;

  static stop_signals& of_this_process();

  place add(stop_turn turn, std::function<void(int)> tell);
  static int asked() { return asked_; }
  void remove(place at);

 private:
  // The state that the handler may touch.
  static inline std::atomic<int> asked_{0};         // the first signal that came
  static inline std::atomic<bool> heard_{false};    // and whether it has been taken notice of
  static inline std::atomic<int> wakes_{-1};        // the end of a pipe
  static inline std::atomic<::pid_t> process_{-1};  // that listens
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

  // A launcher may pass on what the terminal has sent to all; until the first is heard, it is the same request.
  static void handle(int signal);
  static void wake();

  // Requires: the locks.
  void open();
  [[noreturn]] static void fail();
  void close();
  static void take(int signal);
  static void give_back(int signal);

  void watch();
  // Requires: the lock. Each in a thread of its own, since one may wait for another.
  void tell(stop_turn turn);

  std::mutex listening_;  // held while somebody comes or goes
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<told> all_;
  bool quits_ = false;
  int listens_ = -1;
  std::thread watcher_;
};

}  // namespace detail

// Calls back once, in a thread of its own, when SIGINT or SIGTERM asks this process to stop, or has asked it before;
// from then on a second one ends the process. What the callback of one who saves is to be done before is not told to
// others until it returns. Not where a signal has a handler, or is ignored: that is put in place before. The destructor
// waits for a callback that runs, so that it must not be called by it. resource_exhausted where the system has no more.
class stop_listener {
 public:
  stop_listener(stop_turn turn, std::function<void(int signal)> tell)
      : at_(detail::stop_signals::of_this_process().add(turn, std::move(tell))) {}
  stop_listener(const stop_listener&) = delete;
  ~stop_listener() { detail::stop_signals::of_this_process().remove(at_); }

 private:
  detail::stop_signals::place at_;
};

// The signal that has asked this process to stop, where a listener was there to hear it; 0 where none has.
inline int stop_signal_so_far() {
  return detail::stop_signals::asked();
}

std::string_view name_of_stop_signal(int signal);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/stop_signal.ipp>
#endif
