// The event loop of a network: its own thread runs it, or a thread that waits for an event of it.
//
// A thread that waits and runs the network meanwhile gets its answer without being woken, and waking a thread takes as
// long as the round trip of a small message.
//
// Invariants
//   1. One thread at a time runs the context, so that state used only there needs no lock.
//   2. A waiting thread runs it only while events come. After `idle_limit` without one it stops and sleeps.
//   3. The network's own thread runs it again when nobody else does and somebody sleeps, and otherwise soon
//      after the last waiting thread has run it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/rpc/transport/asio.hpp>
#include <pinion/rpc/transport/poll_list.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Owned by a network, and refers to its context and its list. Thread-safe.
class event_loop {
 public:
  event_loop(asio::io_context& context, poll_list& polls) : context_(context), polls_(polls) {}

  // Runs the context in the network's own thread, until the context is stopped.
  void serve();
  // Blocks the calling thread until the event is done, or until the deadline: then returns false. Not for the network's
  // own thread.
  bool wait(countdown& event, const std::optional<time_point>& deadline);
  // Says that events will follow each other, as wait() does too.
  void expect_more() { expected_.fetch_add(1, std::memory_order_relaxed); }

 private:
  // Runs what has arrived, and returns how much that was. A handler must not throw.
  std::size_t poll() noexcept;
  void run_until_asked();
  // Was more expected since it was asked last?
  bool expects();
  void stand_by();
  // Runs the context until the event is done, or until there was nothing to run for a while.
  void run_for(const countdown& event, const std::optional<time_point>& deadline);
  bool is_worth_trying();
  void hand_back();

  // A waiting thread polls for a while after an event, yielding, before it blocks.
  static constexpr std::chrono::microseconds idle_limit{150};
  // So does the network's own thread. It has most idle_limit while that would have spared it its last sleep and more
  // was expected since, so that it takes a small share of a core where steps are rare, and heartbeats however frequent.
  static constexpr std::chrono::microseconds longest_idle{1000}, shortest_idle{30};
  // The time after which the network's own thread looks whether waiting threads still run the context.
  static constexpr std::chrono::microseconds standby{100};
  static constexpr int most_skipped = 63;
  // The system is asked for events once in so many looks at the list, since that is a call, and a look is none. They
  // take less than a microsecond together.
  static constexpr int looks_for_a_call = 32;

  asio::io_context& context_;
  poll_list& polls_;
  std::mutex running_;                    // held by the thread that runs the context
  std::atomic<bool> sleeps_{false};       // the network's own thread runs the context, and blocks until an event comes
  std::atomic<int> asking_{0};            // threads that want to run the context, or do
  std::atomic<int> waiting_{0};           // threads in wait()
  std::atomic<std::uint64_t> served_{0};  // how many waits ran the context
  std::atomic<int> misses_{0}, skip_{0};  // waits in vain, and how many waits do not try therefore
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> expected_{0};
  bool wanted_back_ = false;  // under the lock
  // These two are of the network's own thread.
  std::chrono::microseconds own_idle_limit_ = shortest_idle;
  std::uint64_t expected_before_ = 0;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/transport/event_loop.ipp>
#endif
