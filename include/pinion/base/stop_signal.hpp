// The signals SIGINT and SIGTERM, by which the system asks a process to stop. Listeners are told of them in ordinary
// threads, outside of the signal's handler.
//
// Invariants
//   1. The handler touches only lock-free atomics and a pipe; all other work is done in threads.
//   2. A signal gets this handler only if it had the default one, and only while there is a listener; a process that
//      was asked keeps it. A second signal ends the process, as the default handler does, unless it comes within
//      same_request of the first.
//   3. A process that was asked once stays asked: a later listener is told at once.
//   4. Listeners that serve are told when all listeners that save are done.
//   5. A forked child is on its own: until it has a listener, a signal does there what it does without this handler.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

// The stage of a stop in which a listener is told: those that save are done before those that serve are told.
enum class stop_stage { saves, serves };

namespace detail {

// The place where the signals of this process arrive. There is one, which lives as long as the process. Thread-safe.
class stop_signals {
 public:
  struct told {
    stop_stage stage;
    std::function<void(int)> tell;
    bool begun = false, busy = false;
    std::thread thread;
  };
  using place = std::list<told>::iterator;

  static stop_signals& of_this_process();

  place add(stop_stage stage, std::function<void(int)> tell);
  // The first signal that has come, or 0.
  static int asked() { return asked_; }
  void remove(place at);

 private:
  // The state that the handler may touch.
  static inline std::atomic<int> asked_{0};              // the first signal that came
  static inline std::atomic<std::int64_t> asked_at_{0};  // when, in nanoseconds of the steady clock
  static inline std::atomic<int> wakes_{-1};             // the end of the pipe that wakes the watcher
  static inline std::atomic<::pid_t> process_{-1};       // the process that listens
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

  // Who asks may do so twice: a launcher passes on a signal that the terminal has sent to all, and `timeout` of
  // coreutils sends one to the process and one to its group.
  static constexpr auto same_request = std::chrono::milliseconds(500);
  // Notes the first signal and wakes the watcher.
  static void handle(int signal);
  static void wake();

  // Starts to listen. Requires: both locks are held.
  void open();
  // Forgets what the handler noted in another process.
  static void begin_in(::pid_t process);
  // Throws resource_exhausted.
  [[noreturn]] static void fail();
  void close();
  // Installs the handler for a signal, if it has the default one.
  static void take(int signal);
  // Restores the default handler of a signal.
  static void give_back(int signal);

  // Runs in the watcher's thread until the last listener has left.
  void watch();
  // Tells the listeners of a stage, each in a thread of its own, since one may wait for another. Requires: the lock is
  // held.
  void tell(stop_stage stage);

  std::mutex listening_;  // held while a listener comes or goes
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<told> all_;
  bool quits_ = false;
  int listens_ = -1;
  std::thread watcher_;
};

}  // namespace detail

// Calls a function once, in a thread of its own, when SIGINT or SIGTERM asks this process to stop, or has asked it
// before. Half a second later, and from then on, a second signal ends the process. Listeners of the stage `serves` are
// called when the functions of the stage `saves` have returned.
//
// A signal that the program handles or ignores is left alone; the program must have set that up before. The destructor
// waits for a call that is running, so it must not be called by the function. Listeners may be made and destroyed in
// any thread. The constructor throws resource_exhausted if the system gives no pipe or thread.
class stop_listener {
 public:
  stop_listener(stop_stage stage, std::function<void(int signal)> tell)
      : at_(detail::stop_signals::of_this_process().add(stage, std::move(tell))) {}
  stop_listener(const stop_listener&) = delete;
  ~stop_listener() {
    if (made_in_.is_this()) detail::stop_signals::of_this_process().remove(at_);
  }

 private:
  const process_mark made_in_;
  detail::stop_signals::place at_;
};

// The signal that has asked this process to stop while there was a listener; 0 if none has.
inline int stop_signal_so_far() {
  return detail::stop_signals::asked();
}

// "SIGINT" or "SIGTERM".
std::string_view name_of_stop_signal(int signal);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/stop_signal.ipp>
#endif
