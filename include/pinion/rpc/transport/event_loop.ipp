// Bodies of <pinion/rpc/transport/event_loop.hpp>.
#pragma once

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/event_loop.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// Runs handlers. One of Asio's that has no memory ends the coroutine that it was to resume, and the others go on.
template <class Handlers>
void spared(const Handlers& run) {
  try {
    run();
  } catch (const std::bad_alloc&) {
  }
}

// Counts its scope in a counter.
class counted_in {
 public:
  explicit counted_in(std::atomic<int>& in) : in_(in) { in_.fetch_add(1); }
  counted_in(const counted_in&) = delete;
  ~counted_in() { in_.fetch_sub(1); }

 private:
  std::atomic<int>& in_;
};

}  // namespace detail

PINION_DECL void event_loop::serve() {
  while (!context_.stopped()) {
    run_until_asked();
    stand_by();
  }
}

PINION_DECL bool event_loop::wait(countdown& event, const std::optional<time_point>& deadline) {
  const detail::counted_in here(waiting_);
  expect_more();
  if (!event.done()) run_for(event, deadline);
  return event.wait(deadline);
}

PINION_DECL std::size_t event_loop::poll() noexcept {
  std::size_t changed = 0;
  detail::spared([&] {
    for (int i = 0; i < looks_for_a_call && changed == 0 && !polls_.empty(); ++i) changed = polls_.look();
    changed += context_.poll_one();  // not all that are ready: among those may ever be new ones
  });
  return changed;
}

PINION_DECL void event_loop::run_until_asked() {
  const std::lock_guard mine(running_);
  auto last = std::chrono::steady_clock::now();
  while (asking_.load() == 0 && !context_.stopped()) {
    if (poll() > 0) {
      last = std::chrono::steady_clock::now();
    } else if (std::chrono::steady_clock::now() - last < own_idle_limit_) {
      std::this_thread::yield();
    } else {
      sleeps_ = true;
      if (polls_.rest()) detail::spared([this] { context_.run_one(); });
      sleeps_ = false;
      const auto slept_from = std::exchange(last, std::chrono::steady_clock::now());
      own_idle_limit_ = expects() && last - slept_from < longest_idle ? longest_idle : shortest_idle;
    }
  }
}

PINION_DECL bool event_loop::expects() {
  const auto now = expected_.load(std::memory_order_relaxed);
  return std::exchange(expected_before_, now) != now;
}

PINION_DECL void event_loop::stand_by() {
  std::unique_lock hold(mutex_);
  wanted_back_ = false;
  for (std::uint64_t before = served_.load();; before = served_.load()) {
    const auto unused = [&] { return asking_.load() == 0 && served_.load() == before; };
    wake_.wait_for(hold, standby, [&] { return wanted_back_ || unused(); });
    if (wanted_back_ || unused() || context_.stopped()) return;
  }
}

PINION_DECL void event_loop::run_for(const countdown& event, const std::optional<time_point>& deadline) {
  if (!is_worth_trying()) return;
  const detail::counted_in asks(asking_);
  std::unique_lock mine(running_, std::defer_lock);
  for (auto until = std::chrono::steady_clock::now() + idle_limit; !event.done();) {
    if (!mine) mine.try_lock();
    const bool served = mine && poll() > 0;
    const auto now = std::chrono::steady_clock::now();
    if (served) until = now + idle_limit;
    if (now >= until || (deadline && now >= *deadline)) break;  // others may have something to be served at any time
    if (served) continue;
    if (!mine && sleeps_) break;
    std::this_thread::yield();
  }
  const bool done = event.done();
  if (mine) {
    mine.unlock();
    ++served_;
    misses_ = done ? 0 : std::min(2 * misses_.load() + 1, most_skipped);
    skip_ = misses_.load();
  }
  if (!done || waiting_.load() > 1) hand_back();
}

// Answers that take long are worth no tries: the network's own thread would be woken after each.
PINION_DECL bool event_loop::is_worth_trying() {
  if (sleeps_) return false;
  return skip_.load() <= 0 || skip_.fetch_sub(1) <= 0;
}

PINION_DECL void event_loop::hand_back() {
  {
    const std::lock_guard hold(mutex_);
    wanted_back_ = true;
  }
  wake_.notify_one();
}

}}}  // namespace pinion::v0::rpc
