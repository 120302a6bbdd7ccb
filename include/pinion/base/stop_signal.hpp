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

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <pinion/base/error.hpp>

namespace pinion::inline v0 {

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

  static stop_signals& of_this_process() {
    static auto* const one = new stop_signals;
    return *one;
  }

  place add(stop_turn turn, std::function<void(int)> tell) {
    std::lock_guard one_at_a_time(listening_);
    std::lock_guard hold(mutex_);
    if (all_.empty()) open();
    const place at = all_.insert(all_.end(), {turn, std::move(tell), false, false, {}});
    changed_.notify_all();
    return at;
  }
  static int asked() { return asked_; }
  void remove(place at) {
    {
      std::unique_lock hold(mutex_);
      at->begun = true;
      changed_.wait(hold, [&] { return !at->busy; });
    }
    if (at->thread.joinable()) at->thread.join();
    std::lock_guard one_at_a_time(listening_);
    {
      std::lock_guard hold(mutex_);
      all_.erase(at);
      if (!all_.empty()) return changed_.notify_all();
    }
    close();
  }

 private:
  // The state that the handler may touch.
  static inline std::atomic<int> asked_{0};         // the first signal that came
  static inline std::atomic<bool> heard_{false};    // and whether it has been taken notice of
  static inline std::atomic<int> wakes_{-1};        // the end of a pipe
  static inline std::atomic<::pid_t> process_{-1};  // that listens
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

  // A launcher may pass on what the terminal has sent to all; until the first is heard, it is the same request.
  static void handle(int signal) {
    const int before = errno;
    int none = 0;
    if (::getpid() == process_ && asked_.compare_exchange_strong(none, signal)) {
      wake();
    } else if (::getpid() != process_ || heard_) {
      std::signal(signal, SIG_DFL);
      std::raise(signal);  // comes when this returns
    }
    errno = before;
  }
  static void wake() {
    const char byte = 0;
    [[maybe_unused]] const auto written = ::write(wakes_, &byte, 1);
  }

  // Requires: the locks.
  void open() {
    int ends[2];
    if (wakes_ < 0) {
      if (::pipe2(ends, O_CLOEXEC) != 0) fail();
      listens_ = ends[0];
      wakes_ = ends[1];  // and stays: a handler may be about to write
    }
    process_ = ::getpid();
    quits_ = false;
    try {
      watcher_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {
      fail();
    }
    if (asked_ != 0)
      wake();
    else
      for (const int signal : {SIGINT, SIGTERM}) take(signal);
  }
  [[noreturn]] static void fail() {
    throw error(errc::resource_exhausted, "there is no pipe or no thread left to hear SIGINT and SIGTERM by");
  }
  void close() {
    for (const int signal : {SIGINT, SIGTERM}) give_back(signal);
    {
      std::lock_guard hold(mutex_);
      quits_ = true;
    }
    changed_.notify_all();
    wake();
    watcher_.join();
  }
  static void take(int signal) {
    struct sigaction is {};
    ::sigaction(signal, nullptr, &is);
    if ((is.sa_flags & SA_SIGINFO) || is.sa_handler != SIG_DFL) return;
    is = {};
    is.sa_handler = handle;
    is.sa_flags = SA_RESTART;  // a program that is not ours to ask need not know of interrupted calls
    ::sigaction(signal, &is, nullptr);
  }
  static void give_back(int signal) {
    struct sigaction is {};
    ::sigaction(signal, nullptr, &is);
    if (!(is.sa_flags & SA_SIGINFO) && is.sa_handler == handle) std::signal(signal, SIG_DFL);
  }

  void watch() {
    std::unique_lock hold(mutex_);
    while (asked_ == 0 && !quits_) {
      hold.unlock();
      char byte;
      [[maybe_unused]] const auto n = ::read(listens_, &byte, 1);
      hold.lock();
    }
    heard_ = asked_ != 0;
    while (!quits_) {
      tell(stop_turn::saves);
      const bool saved =
          std::none_of(all_.begin(), all_.end(), [](const told& t) { return t.turn == stop_turn::saves && t.busy; });
      if (saved) tell(stop_turn::serves);
      changed_.wait(hold);
    }
  }
  // Requires: the lock. Each in a thread of its own, since one may wait for another.
  void tell(stop_turn turn) {
    for (told& t : all_) {
      if (asked_ == 0 || t.turn != turn || std::exchange(t.begun, true)) continue;
      t.busy = true;
      t.thread = std::thread([this, &t] {
        t.tell(asked_);
        std::lock_guard hold(mutex_);
        t.busy = false;
        changed_.notify_all();
      });
    }
  }

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

inline std::string_view name_of_stop_signal(int signal) {
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace pinion::inline v0
