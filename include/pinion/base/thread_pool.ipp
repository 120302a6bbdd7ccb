// Bodies of <pinion/base/thread_pool.hpp>.
#pragma once

#include <algorithm>
#include <chrono>

#include <pinion/base/thread_pool.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL thread_pool::thread_pool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
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
  }
  wake_.notify_one();
}

PINION_DECL void thread_pool::for_each_chunk(std::int64_t chunks, loop_body body) {
  if (chunks <= 1 || threads_.empty()) {
    for (std::int64_t i = 0; i < chunks; ++i) body(i);
    return;
  }
  const auto shared = std::make_shared<loop>(chunks, body);
  const auto helpers = std::min<std::int64_t>(chunks - 1, threads());
  for (std::int64_t i = 0; i < helpers; ++i) schedule([shared] { shared->help(); });
  shared->help();
  shared->wait();
  if (shared->failure) std::rethrow_exception(shared->failure);
}

PINION_DECL void thread_pool::loop::help() {
  for (;;) {
    const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= chunks) return;
    try {
      body(i);
    } catch (...) {
      std::lock_guard hold(mutex);
      if (!failure) failure = std::current_exception();
    }
    if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) {
      std::lock_guard hold(mutex);
      finished.notify_all();
    }
  }
}

PINION_DECL void thread_pool::loop::wait() {
  std::unique_lock hold(mutex);
  finished.wait(hold, [this] { return done.load(std::memory_order_acquire) == chunks; });
}

PINION_DECL void thread_pool::spin() const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
  while (queued_.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
}

PINION_DECL void thread_pool::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    if (queue_.empty() && !stopping_) {
      hold.unlock();
      spin();
      hold.lock();
    }
    wake_.wait(hold, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto closure = std::move(queue_.front());
    queue_.pop_front();
    queued_.fetch_sub(1, std::memory_order_relaxed);
    hold.unlock();
    closure();
    closure = nullptr;
    hold.lock();
  }
}

}}  // namespace pinion::v0
