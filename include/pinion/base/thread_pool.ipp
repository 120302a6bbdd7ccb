// Bodies of <pinion/base/thread_pool.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include <pinion/base/thread_pool.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// How long a thread looks for work before it sleeps. A sleeping thread takes tens of microseconds to wake up, as long
// as a piece of a small step takes, and the pieces of a step come some hundred microseconds apart.
inline constexpr std::chrono::microseconds patience{300};

}  // namespace detail

PINION_DECL thread_pool::thread_pool(int threads, int loop_helpers) : loop_helpers_(loop_helpers) {
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
  if (chunks > 1 && !threads_.empty() && loop_helpers_ > 0) return share(chunks, body);
  for (std::int64_t i = 0; i < chunks; ++i) body(i);
}

PINION_DECL void thread_pool::share(std::int64_t chunks, loop_body body) {
  loop mine(chunks, body, loop_helpers_);
  {
    const shown_work here(loops_, mine);
    if (here.shown()) wake_for_loop();
    mine.run();
  }
  if (mine.failure) std::rethrow_exception(mine.failure);
}

PINION_DECL void thread_pool::loop::run() {
  for (std::int64_t i = 0; begin(); ++i) run_chunk(i);
}

PINION_DECL bool thread_pool::loop::help() {
  bool helped = false;
  for (; begin(); helped = true) run_chunk(chunks - 1 - from_back.fetch_add(1, std::memory_order_relaxed));
  return helped;
}

PINION_DECL void thread_pool::loop::run_chunk(std::int64_t i) {
  try {
    body(i);
  } catch (...) {
    std::lock_guard hold(mutex);
    if (!failure) failure = std::current_exception();
  }
}

// ---- work that is shown

PINION_DECL thread_pool::shown_work::shown_work(slots& among, joint_work& mine) {
  const auto free = std::find_if(among.begin(), among.end(), [&](slot& s) { return s.show(mine); });
  if (free != among.end()) at_ = &*free;
}

PINION_DECL bool thread_pool::slot::show(joint_work& mine) {
  // A caller that is inside itself, with the work of another who has closed the slot, would wait for itself.
  if (open.load(std::memory_order_relaxed) || inside.load() != 0) return false;
  joint_work* none = nullptr;
  return open.compare_exchange_strong(none, &mine);
}

PINION_DECL void thread_pool::slot::close() {
  open.store(nullptr);
  constexpr int looks = 1000;  // some 100 us, most of them given to other threads
  for (int i = 0; i < looks && inside.load() != 0; ++i)
    if (i > 100) std::this_thread::yield();
  for (int now; (now = inside.load()) != 0;) inside.wait(now);
}

template <class Use>
bool thread_pool::slot::enter(Use use) {
  if (!open.load(std::memory_order_relaxed)) return false;
  const int others = inside.fetch_add(1);
  joint_work* const shown = open.load();
  const bool used = shown && others < shown->most_helpers && use(*shown);
  if (inside.fetch_sub(1) == 1) inside.notify_all();
  return used;
}

PINION_DECL bool thread_pool::help_with(slots& all) {
  bool helped = false;
  for (slot& s : all) helped |= s.enter([](joint_work& w) { return w.help(); });
  return helped;
}

PINION_DECL bool thread_pool::any_calls(slots& all) {
  return std::any_of(all.begin(), all.end(),
                     [](slot& s) { return s.enter([](const joint_work& w) { return w.calls_for_help(); }); });
}

PINION_DECL void thread_pool::call_for_help() {
  if (asleep_ == 0) return;  // a thread that falls asleep later looks at the slots first
  { std::lock_guard hold(mutex_); }
  wake_.notify_one();
  wake_callers_.notify_all();
}

PINION_DECL void thread_pool::wake_callers() {
  if (asleep_ == 0) return;
  { std::lock_guard hold(mutex_); }
  wake_callers_.notify_all();
}

PINION_DECL void thread_pool::wake_for_loop() {
  if (asleep_ == 0) return;
  { std::lock_guard hold(mutex_); }
  wake_.notify_all();
  wake_callers_.notify_all();
}

PINION_DECL void thread_pool::help_until(const std::function<bool()>& over) {
  auto until = std::chrono::steady_clock::now() + detail::patience;
  while (!over()) {
    const bool helped = help_with(loops_);
    const auto now = std::chrono::steady_clock::now();
    if (helped) until = now + detail::patience;
    if (now < until) {
      std::this_thread::yield();
      continue;
    }
    std::unique_lock hold(mutex_);
    ++asleep_;
    wake_callers_.wait(hold, [&] { return over() || any_calls(loops_); });
    --asleep_;
  }
}

// ---- threads

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

PINION_DECL bool thread_pool::find_work() {
  const auto until = std::chrono::steady_clock::now() + detail::patience;
  do {
    if (help_with(loops_) || help_with(works_) || run_queued()) return true;
    std::this_thread::yield();
  } while (!stopping_ && std::chrono::steady_clock::now() < until);
  return false;
}

PINION_DECL bool thread_pool::sleep() {
  std::unique_lock hold(mutex_);
  ++asleep_;
  wake_.wait(hold, [this] { return stopping_ || !queue_.empty() || any_calls(loops_) || any_calls(works_); });
  --asleep_;
  return !stopping_ || !queue_.empty();
}

}}  // namespace pinion::v0
