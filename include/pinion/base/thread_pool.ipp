// Bodies of <pinion/base/thread_pool.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include <pinion/base/thread_pool.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL thread_pool::thread_pool(int threads) {
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this] {
      while (find_work() || sleep()) {
      }
    });
}

PINION_DECL thread_pool::~thread_pool() {
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& t : threads_) t.join();
}

PINION_DECL void thread_pool::schedule(std::function<void()> closure) {
  if (threads_.empty()) return closure();
  {
    std::lock_guard hold(mutex_);
    queue_.push_back(std::move(closure));
    queued_.fetch_add(1, std::memory_order_release);
    if (asleep_ == 0) return;  // a thread that falls asleep later looks into the queue first
  }
  wake_.notify_one();
}

PINION_DECL void thread_pool::for_each_chunk(std::int64_t chunks, loop_body body) {
  if (chunks > 1 && !threads_.empty()) return share(chunks, body);
  for (std::int64_t i = 0; i < chunks; ++i) body(i);
}

PINION_DECL void thread_pool::share(std::int64_t chunks, loop_body body) {
  loop mine(chunks, body);
  const auto shown = std::find_if(slots_.begin(), slots_.end(), [&](slot& s) { return s.show(mine); });
  if (shown != slots_.end()) wake_for_loop();
  mine.help();
  if (shown != slots_.end()) shown->close();
  if (mine.failure) std::rethrow_exception(mine.failure);
}

PINION_DECL bool thread_pool::loop::help() {
  for (bool helped = false;; helped = true) {
    const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= chunks) return helped;
    try {
      body(i);
    } catch (...) {
      std::lock_guard hold(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
}

PINION_DECL bool thread_pool::slot::show(loop& mine) {
  loop* none = nullptr;
  return !open.load(std::memory_order_relaxed) && open.compare_exchange_strong(none, &mine);
}

PINION_DECL void thread_pool::slot::close() {
  open.store(nullptr);
  constexpr int looks = 1000;  // some 100 us, most of them given to other threads
  for (int i = 0; i < looks && inside.load() != 0; ++i)
    if (i > 100) std::this_thread::yield();
  for (int now; (now = inside.load()) != 0;) inside.wait(now);
}

PINION_DECL bool thread_pool::slot::help() {
  if (!open.load(std::memory_order_relaxed)) return false;
  inside.fetch_add(1);
  loop* const shown = open.load();
  const bool helped = shown && shown->help();
  if (inside.fetch_sub(1) == 1) inside.notify_all();
  return helped;
}

PINION_DECL bool thread_pool::help_callers() {
  bool helped = false;
  for (slot& s : slots_) helped |= s.help();
  return helped;
}

PINION_DECL bool thread_pool::run_queued() {
  if (queued_.load(std::memory_order_acquire) == 0) return false;
  std::unique_lock hold(mutex_);
  if (queue_.empty()) return false;
  const auto closure = std::move(queue_.front());
  queue_.pop_front();
  queued_.fetch_sub(1, std::memory_order_relaxed);
  hold.unlock();
  closure();
  return true;
}

PINION_DECL bool thread_pool::shows_a_loop() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const slot& s) { return s.open.load() != nullptr; });
}

PINION_DECL void thread_pool::wake_for_loop() {
  if (asleep_ == 0) return;  // a thread that falls asleep later looks at the slots first
  { std::lock_guard hold(mutex_); }
  wake_.notify_all();
}

PINION_DECL bool thread_pool::find_work() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
  do {
    if (help_callers() || run_queued()) return true;
    std::this_thread::yield();
  } while (!stopping_ && std::chrono::steady_clock::now() < until);
  return false;
}

PINION_DECL bool thread_pool::sleep() {
  std::unique_lock hold(mutex_);
  ++asleep_;
  wake_.wait(hold, [this] { return stopping_ || !queue_.empty() || shows_a_loop(); });
  --asleep_;
  return !stopping_ || !queue_.empty();
}

}}  // namespace pinion::v0
