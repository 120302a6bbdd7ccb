// The stop signal of a process as a monitored session meets it: in time, and at whatever it waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/base/stop_signal.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Belongs to a session and to its thread, which says what it is doing. The signal comes in another thread. That thread
// ends waits that would not end by themselves, and keeps the servers of this process alive until the session is closed.
class signal_stop {
 public:
  struct limits {
    // The step under way has this long to end, and the program has as long to make its next call; then it is cancelled.
    std::chrono::milliseconds step;
    // The session has this long to be closed.
    std::chrono::milliseconds close;
  };

  // Throws stopped() in a process that was asked to stop before, so that nothing begins there.
  signal_stop(bool listens, const limits& l);
  signal_stop(const signal_stop&) = delete;
  ~signal_stop() { closed(); }

  // True once a signal has come.
  bool asked() const { return signal_.load(std::memory_order_acquire) != 0; }
  std::string_view name() const { return name_of_stop_signal(signal_); }
  // The error that tells of the signal, of code cancelled.
  error stopped() const { return stopped_by(signal_); }
  // True if a signal came while a session began, which was closed for that.
  bool has_cut_short() const { return cut_short_.load(std::memory_order_acquire); }

  // Sleeps. A signal ends the sleep, and then stopped() is thrown.
  void pause(std::chrono::milliseconds length);

  // Marks, while it lives, that the session runs something: a step, which is cancelled only if it does not end soon, or
  // its beginning, which is cancelled at once because there is nothing to save yet.
  class busy {
   public:
    enum class with { step, beginning };
    busy(signal_stop& of, session& s, with what) : of_(of) { of_.set(&s, what); }
    busy(const busy&) = delete;
    ~busy() { of_.set(nullptr, with::step); }

   private:
    signal_stop& of_;
  };

  // Says that the session ends by itself from here on. Other listeners to the signal wait for that.
  void closing();
  // Says that the session is closed. From here on a signal does what it did before this object was made.
  void closed();

 private:
  using clock = std::chrono::steady_clock;

  static error stopped_by(int signal);

  void set(session* s, busy::with what);

  void told(int signal);
  // The time at which the thread of the signal looks again. Requires: the lock is held.
  clock::time_point next_look(clock::time_point began) const;
  // Cancels what the session runs. Requires: the lock is held.
  void cancel();

  const limits limits_;
  std::atomic<int> signal_{0};
  std::atomic<bool> cut_short_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  session* session_ = nullptr;  // the session while it is busy, or null
  busy::with what_{};
  bool closing_ = false, closed_ = false;
  clock::time_point idle_since_{};
  std::optional<stop_listener> listener_;  // last, since it calls a function that uses the other members
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/signal_stop.ipp>
#endif
