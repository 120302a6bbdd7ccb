// How a monitored session comes to know that its process is asked to stop, in time and wherever it waits.
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

// Belongs to a session and to its thread, which says what it is about; the signal comes in another one, which ends
// waits that do not end by themselves and keeps the servers of this process serving until the session is closed.
class signal_stop {
 public:
  struct patience {
    std::chrono::milliseconds step;   // for the step under way, and then for the program to go on; then it is cancelled
    std::chrono::milliseconds close;  // for the session to be closed
  };

  // In a process that has been asked already nothing begins: throws what stopped() says.
  signal_stop(bool listens, const patience& p);
  signal_stop(const signal_stop&) = delete;
  ~signal_stop() { closed(); }

  bool asked() const { return signal_.load(std::memory_order_acquire) != 0; }
  std::string_view name() const { return name_of_stop_signal(signal_); }
  error stopped() const { return stopped_by(signal_); }

  // A pause that the signal ends; throws stopped() then.
  void pause(std::chrono::milliseconds length);

  // While this is there the session runs something: a step, which is cancelled only if it does not end soon, or what it
  // begins with, after which there is nothing to save.
  class busy {
   public:
    enum class with { step, beginning };
    busy(signal_stop& of, session& s, with what) : of_(of) { of_.set(&s, what); }
    busy(const busy&) = delete;
    ~busy() { of_.set(nullptr, with::step); }

   private:
    signal_stop& of_;
  };

  // From here on it ends by itself, and others wait for that.
  void closing();
  // A signal does from here on what it did before there was this.
  void closed();

 private:
  using clock = std::chrono::steady_clock;

  static error stopped_by(int signal);

  void set(session* s, busy::with what);

  void told(int signal);
  // Requires: the lock.
  clock::time_point next_look(clock::time_point began) const;
  // Requires: the lock.
  void cancel();

  const patience patience_;
  std::atomic<int> signal_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  session* session_ = nullptr;  // while it is busy
  busy::with what_{};
  bool closing_ = false, closed_ = false;
  clock::time_point idle_since_{};
  std::optional<stop_listener> listener_;  // last, since it calls what uses the others
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/signal_stop.ipp>
#endif
