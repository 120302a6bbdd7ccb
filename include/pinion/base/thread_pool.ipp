// Bodies of <pinion/base/thread_pool.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/base/time_slice.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// How long a thread looks for work before it sleeps. A sleeping thread takes tens of microseconds to wake up, as long
// as a piece of a small step takes, and the pieces of a step come some hundred microseconds apart. A thread of a pool
// spins longest while that would have spared it its last sleep, so that it takes a share of a core where work is
// rare. Sleeping at the first yield by which another thread ran was slower, by a fifth of a step between two processes
// on two cores.
inline constexpr std::chrono::microseconds spin_time{300}, longest_spin{1000};

// How long threads that take nothing from the queue are waited for, and how long a spare thread stays without need.
inline constexpr std::chrono::milliseconds wait_for_threads{5}, stay_of_spares{1000};

}  // namespace detail

PINION_DECL thread_pool::thread_pool(int threads, int loop_helpers, int most_spares)
    : count_(threads),
      loop_helpers_(loop_helpers),
      spares_{.most = most_spares},
      places_(static_cast<std::size_t>(threads)) {
  for (thread_place& place : places_) threads_.emplace_back([this, &place] { serve(place); });
}

PINION_DECL thread_pool::~thread_pool() {
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  spares_.wake.notify_all();
  for (auto& t : threads_) t.join();
  std::list<std::thread> spares;
  {
    std::lock_guard hold(mutex_);
    spares.splice(spares.end(), spares_.running);
    spares.splice(spares.end(), spares_.ended);
  }
  for (auto& t : spares) t.join();
}

PINION_DECL void thread_pool::schedule(std::function<void()> closure) {
  schedule(std::move(closure), 0);
}

PINION_DECL void thread_pool::schedule(std::function<void()> closure, std::uint64_t line) {
  if (count_ == 0) return closure();
  {
    std::lock_guard hold(mutex_);
    queue_.push(line, std::move(closure));
    queued_.fetch_add(1);
    expect_attendance();
    if (asleep_ == 0) return;  // a thread that falls asleep later looks into the queue first
  }
  wake_.notify_one();
}

PINION_DECL int thread_pool::spares() const {
  std::lock_guard hold(mutex_);
  return static_cast<int>(spares_.running.size());
}

PINION_DECL void thread_pool::for_each_chunk(std::int64_t chunks, loop_body body) {
  const cancellable_work* const work = chunks > 1 ? cancellable_work::of_this_thread() : nullptr;
  if (chunks > 1 && count_ > 0 && loop_helpers_ > 0) return share(chunks, body, work);
  for (std::int64_t i = 0; i < chunks; ++i) {
    if (work) work->expect_wanted();
    body(i);
  }
}

PINION_DECL void thread_pool::share(std::int64_t chunks, loop_body body, const cancellable_work* work) {
  loop mine(chunks, body, loop_helpers_, work);
  {
    make_room();
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

PINION_DECL void thread_pool::loop::expect_wanted() {
  if (!work || !work->cancelled()) return;
  begun.store(chunks, std::memory_order_relaxed);  // the rest is not begun
  work->expect_wanted();
}

PINION_DECL void thread_pool::loop::run_chunk(std::int64_t i) {
  try {
    expect_wanted();
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
  // The others are in their last chunk; a caller that yields would be back behind all who look for work here.
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds at_most{50};
  for (const auto until = clock::now() + at_most; inside.load() != 0 && clock::now() < until;) continue;
  constexpr int looks = 1000;  // some 100 us
  for (int i = 0; i < looks && inside.load() != 0; ++i) std::this_thread::yield();
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

PINION_DECL bool thread_pool::join_in(slots& all) {
  bool helped = false;
  for (slot& s : all)
    helped |= s.enter([this](joint_work& w) {
      const at_work now(*this);
      return w.help();
    });
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

PINION_DECL void thread_pool::make_room() {
  const int here = thread_place::here();
  for (thread_place& place : places_) place.keep_off(here);
}

PINION_DECL void thread_pool::help_until(const std::function<bool()>& over) {
  auto until = std::chrono::steady_clock::now() + detail::spin_time;
  while (!over()) {
    const bool helped = help_with(loops_);
    const auto now = std::chrono::steady_clock::now();
    if (helped) until = now + detail::spin_time;
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
  auto next = queue_.take();
  if (!next) return false;
  queued_.fetch_sub(1, std::memory_order_relaxed);
  ++spares_.taken;
  spares_.threads_are_held = false;
  at_work_.fetch_add(1);
  expect_attendance();
  hold.unlock();
  make_room();
  next->what();
  next->what = nullptr;
  at_work_.fetch_sub(1);
  hold.lock();
  queue_.done(next->line);
  return true;
}

PINION_DECL void thread_pool::serve(thread_place& mine) {
  using clock = std::chrono::steady_clock;
  take_short_slices();
  for (auto spin = detail::spin_time;;) {
    if (find_work(mine, spin)) continue;
    const auto slept_from = clock::now();
    if (!sleep()) return;
    spin = clock::now() - slept_from < detail::longest_spin ? detail::longest_spin : detail::spin_time;
  }
}

PINION_DECL bool thread_pool::find_work(thread_place& mine, std::chrono::microseconds spin) {
  const auto until = std::chrono::steady_clock::now() + spin;
  do {
    mine.settle();
    if (join_in(loops_) || join_in(works_) || run_queued()) return true;
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

// ---- spare threads

// A closure may be queued between a thread's last look at the queue and its work; so either the thread sees the closure
// here, or the one who queues it sees the thread at work.
PINION_DECL thread_pool::at_work::at_work(thread_pool& of) : of_(of) {
  if (of_.at_work_.fetch_add(1) + 1 < of_.threads() || of_.queued_.load() == 0) return;
  std::lock_guard hold(of_.mutex_);
  of_.expect_attendance();
}

PINION_DECL void thread_pool::expect_attendance() {
  if (queue_.unattended() == 0 || at_work_.load() < count_ || spares_.watched) return;
  if (spares_.idle > 0) return spares_.wake.notify_one();
  if (static_cast<int>(spares_.running.size()) < spares_.most) start_spare();
}

PINION_DECL void thread_pool::start_spare() {
  for (auto& t : spares_.ended) t.join();
  spares_.ended.clear();
  auto self = spares_.running.end();
  try {
    self = spares_.running.emplace(self);
    *self = std::thread([this, self] { attend(self); });
    ++spares_.idle;
  } catch (const std::exception&) {  // the line waits for the threads that there are
    if (self != spares_.running.end()) spares_.running.erase(self);
  }
}

PINION_DECL void thread_pool::attend(std::list<std::thread>::iterator self) {
  std::unique_lock hold(mutex_);
  while (wait_for_need(hold)) {
    auto next = queue_.take_unattended();
    if (!next) continue;
    queued_.fetch_sub(1, std::memory_order_relaxed);
    --spares_.idle;
    expect_attendance();
    hold.unlock();
    next->what();
    next->what = nullptr;
    hold.lock();
    queue_.done(next->line);
    ++spares_.idle;
  }
  --spares_.idle;
  if (!stopping_) spares_.ended.splice(spares_.ended.end(), spares_.running, self);
}

// Returns false where a spare thread is needed no more.
PINION_DECL bool thread_pool::wait_for_need(std::unique_lock<std::mutex>& hold) {
  const auto needed = [this] { return stopping_ || (queue_.unattended() > 0 && at_work_.load() >= count_); };
  while (spares_.wake.wait_for(hold, detail::stay_of_spares, needed) && !stopping_) {
    if (spares_.threads_are_held) return true;
    const auto before = spares_.taken;
    spares_.watched = true;
    spares_.wake.wait_for(hold, detail::wait_for_threads, [this] { return stopping_.load(); });
    spares_.watched = false;
    spares_.threads_are_held = spares_.taken == before;
  }
  return false;
}

}}  // namespace pinion::v0
