// A pool of threads that run closures, and help callers with loops and other work that can be shared.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/fair_queue.hpp>
#include <pinion/base/loop_body.hpp>
#include <pinion/base/thread_place.hpp>

namespace pinion { inline namespace v0 {

class cancellable_work;

// Work of a caller that at most `most_helpers` threads of a pool may join. It is called by several threads at once.
class joint_work {
 public:
  explicit joint_work(int most) : most_helpers(most) {}
  const int most_helpers;
  // Tells whether there is something to do for one more thread.
  virtual bool calls_for_help() const = 0;
  // Does what there is to do in this thread. Returns false if there was nothing.
  virtual bool help() = 0;

 protected:
  ~joint_work() = default;
};

// Threads with one queue, which serves the lines of those who use the pool round robin. Thread-safe. It owns its
// threads; the destructor runs the closures that are queued and joins the threads, so none of them may destroy the
// pool. A closure must not throw.
//
// The number of threads is fixed, except for spare ones. They come when closures of some lines hold all threads for
// long, each to attend a line that waits and of which no closure is at work; the system then shares the cores out. A
// spare thread ends when it was not needed for a while.
//
// A thread that begins to compute has those that look for work leave its processor, by the set of processors that the
// system keeps for a thread; they stay within that of the program.
class thread_pool {
 public:
  // With 0 threads, schedule() runs each closure in the caller. At most `loop_helpers` threads help with one loop.
  explicit thread_pool(int threads, int loop_helpers = 1 << 20, int most_spares = 0);
  thread_pool(const thread_pool&) = delete;
  ~thread_pool();

  int threads() const { return count_; }

  // Queues a closure of a line for the next idle thread. Closures without a line are of line 0.
  void schedule(std::function<void()> closure);
  void schedule(std::function<void()> closure, std::uint64_t line);
  // The number of closures that wait for a thread.
  int queued() const { return queued_.load(std::memory_order_relaxed); }
  // The number of spare threads that there are now.
  int spares() const;

  // Runs body(i) for each i in [0, chunks), in the caller and in idle threads, and returns when all are done. Rethrows
  // the first exception. Takes no lock while threads are awake: handing a chunk over costs less than a microsecond. In
  // cancellable_work of the caller it throws cancelled, and begins no more bodies, once that is cancelled.
  // Requires: the results do not depend on the thread that runs a body.
  void for_each_chunk(std::int64_t chunks, loop_body body);

 private:
  // A place where a caller shows its work to the threads of the pool. A thread counts itself as inside before it looks
  // at the work, and the caller waits until nobody is inside before the work goes.
  struct alignas(64) slot {
    std::atomic<joint_work*> open{nullptr};
    alignas(64) std::atomic<int> inside{0};

    bool show(joint_work& mine);
    void close();
    // Calls use(work) where there is work and room for a helper.
    template <class Use>
    bool enter(Use use);
  };
  using slots = std::array<slot, 4>;  // a caller that finds none free works alone

 public:
  // Shows work to the threads of the pool as long as it lives. Its end waits until no thread is at the work.
  class shown_work {
   public:
    shown_work(thread_pool& pool, joint_work& mine) : shown_work(pool.works_, mine) { pool.make_room(); }
    shown_work(const shown_work&) = delete;
    ~shown_work() {
      if (at_) at_->close();
    }
    bool shown() const { return at_ != nullptr; }

   private:
    friend class thread_pool;
    shown_work(slots& among, joint_work& mine);
    slot* at_ = nullptr;
  };

  // Wakes a thread, if one sleeps, since shown work has begun to call for help.
  void call_for_help();
  // Helps with loops until over(); the caller has nothing else to do meanwhile. It sleeps after a time without a loop;
  // so wake_callers() is called when over() has become true.
  void help_until(const std::function<bool()>& over);
  void wake_callers();

 private:
  // A loop that threads share. It lives on the stack of its caller, which takes its chunks from the front, while others
  // take them from the back: loops over the same memory then find much of it in the caches of the same threads.
  struct loop final : joint_work {
    const std::int64_t chunks;
    const loop_body body;
    std::atomic<std::int64_t> begun{0}, from_back{0};
    std::mutex mutex = {};
    std::exception_ptr failure = nullptr;

    const cancellable_work* const work;  // of the caller; null: it cannot be cancelled

    loop(std::int64_t n, loop_body b, int most, const cancellable_work* of)
        : joint_work(most), chunks(n), body(b), work(of) {}
    bool calls_for_help() const override { return begun.load() < chunks; }
    // These run chunks until none is left to begin.
    void run();
    bool help() override;

   private:
    void expect_wanted();
    bool begin() { return begun.fetch_add(1, std::memory_order_relaxed) < chunks; }
    void run_chunk(std::int64_t i);
  };

  void share(std::int64_t chunks, loop_body body, const cancellable_work* work);
  static bool help_with(slots& all);
  bool join_in(slots& all);  // a thread of the pool helps
  static bool any_calls(slots& all);
  bool run_queued();
  void wake_for_loop();
  // Has the threads leave the processor of the caller, which begins to compute.
  void make_room();

  // Counts a thread of the pool as having no eyes for the queue.
  class at_work {
   public:
    explicit at_work(thread_pool& of);
    at_work(const at_work&) = delete;
    ~at_work() { of_.at_work_.fetch_sub(1); }

   private:
    thread_pool& of_;
  };
  // Requires, for these: the lock is held.
  void expect_attendance();
  void start_spare();
  // Attends lines that wait while all threads are held; the lock is not held.
  void attend(std::list<std::thread>::iterator self);
  bool wait_for_need(std::unique_lock<std::mutex>& hold);

  // Does in a thread of the pool what there is to do, until the pool ends.
  void serve(thread_place& mine);
  // Looks for work for a time before sleeping, and lets other threads run meanwhile. Returns false where it found none.
  bool find_work(thread_place& mine, std::chrono::microseconds spin);
  // Sleeps until there is work. Returns false where the pool ends.
  bool sleep();

  const int count_, loop_helpers_;
  slots loops_, works_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, wake_callers_;  // the threads of the pool, and callers in help_until()
  fair_queue queue_;
  std::atomic<int> queued_{0};         // the length of the queue, to be read without the lock
  std::atomic<int> asleep_{0};         // threads and callers; changes under the lock
  std::atomic<bool> stopping_{false};  // changes under the lock
  std::atomic<int> at_work_{0};        // threads of the pool that work
  // The spare threads. The lock guards them.
  struct spare_threads {
    const int most;
    std::condition_variable wake = {};
    std::list<std::thread> running = {}, ended = {};
    int idle = 0;
    bool watched = false;           // does a spare wait for the threads to take something?
    std::uint64_t taken = 0;        // how many closures the threads that are no spares have taken
    bool threads_are_held = false;  // did they take none for long? then spares do not wait
  };
  spare_threads spares_;
  std::vector<thread_place> places_;  // per thread
  std::vector<std::thread> threads_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/thread_pool.ipp>
#endif
