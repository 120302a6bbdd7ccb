// Bodies of grid.hpp. This file is compiled without the thread sanitizer: for it, threads of a block are ordered by
// their barriers alone, and all threads of a block are behind those of the block before.
#include "grid.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fiber.hpp"
#include "misuse.hpp"
#include "order.hpp"

namespace fake_cuda {

namespace {

constexpr unsigned warp = 32;

enum class waiting { not_at_all, for_block, for_warp, ended };

struct thread_state {
  waiting state = waiting::not_at_all;
  fiber* on = nullptr;
  int line = 0;  // of the barrier
  unsigned mask = 0, source = 0;
  unsigned long long given = 0, received = 0;
};

// The fibers of an OS thread, which serve one grid after another.
thread_local std::vector<std::unique_ptr<fiber>> fibers;

class grid_run : public block {
 public:
  grid_run(const grid& work, thread_order order)
      : work_(work), order_(order), count_(work.threads.x), variables_(work.variables_of_unit()), threads_(count_) {
    synchronize = [](block& self, int line) { static_cast<grid_run&>(self).wait_for_block(line); };
    exchange = [](block& self, unsigned mask, unsigned long long value, unsigned source) {
      return static_cast<grid_run&>(self).wait_for_warp(mask, value, source);
    };
    *variables_.threads = work.threads;
    *variables_.blocks = work.blocks;
    *variables_.running = this;
  }
  ~grid_run() { *variables_.running = nullptr; }

  void run() {
    leave_for(this);
    for (unsigned b = 0; b < work_.blocks.x; ++b) run_block({b, 0, 0});
    come_after(this);
  }

 private:
  void run_block(place at) {
    *variables_.block_at = at;
    std::fill(threads_.begin(), threads_.end(), thread_state{});
    begun_ = ended_ = at_barrier_ = 0;
    idle_ = 0;
    while (begun_ < count_) idle_fiber().start([](void* self) { static_cast<grid_run*>(self)->run_threads(); }, this);
    while (ended_ < count_)
      if (!resume_all()) give_up_barriers();
  }

  fiber& idle_fiber() {
    while (idle_ < fibers.size() && !fibers[idle_]->is_idle()) ++idle_;
    if (idle_ == fibers.size()) fibers.push_back(std::make_unique<fiber>());
    return *fibers[idle_];
  }

  // The work of a fiber: threads that nobody has begun, one after another, until one waits.
  void run_threads() {
    fiber& on = *fibers[idle_];
    while (begun_ < count_) {
      const unsigned me = ordered(begun_++);
      threads_[me].on = &on;
      run_thread(me);
    }
  }
  void run_thread(unsigned me) {
    set_running(me);
    come_after(this);
    work_.thread();
    leave_for(this);
    threads_[me].state = waiting::ended;
    ++ended_;
    for (thread_state* t = lanes_of(me); t < lanes_of(me) + warp && t < threads_.data() + count_; ++t)
      if (t->state == waiting::for_warp) release_warp_if_complete(lanes_of(me), t->mask);
  }

  // Lets all threads go on that wait no longer; false if all wait.
  bool resume_all() {
    bool any = false;
    for (unsigned k = 0; k < count_; ++k) {
      const unsigned me = ordered(k);
      if (threads_[me].state != waiting::not_at_all) continue;
      any = true;
      set_running(me);
      threads_[me].on->resume();
    }
    return any;
  }

  void wait_for_block(int line) {
    thread_state& me = threads_[variables_.thread->x];
    me.state = waiting::for_block, me.line = line;
    leave_for(&at_barrier_);
    if (++at_barrier_ == count_) release_block();
    pause_until_released(me);
    come_after(&at_barrier_);
  }
  void release_block() {
    at_barrier_ = 0;
    const auto elsewhere = std::find_if(threads_.begin(), threads_.end(), [&](const thread_state& t) {
      return t.state == waiting::for_block && t.line != threads_[0].line;
    });
    if (elsewhere != threads_.end() && threads_[0].state == waiting::for_block)
      report_once("threads of a block wait at two barriers: of lines " + std::to_string(threads_[0].line) + " and " +
                  std::to_string(elsewhere->line));
    for (thread_state& t : threads_)
      if (t.state == waiting::for_block) t.state = waiting::not_at_all;
  }

  unsigned long long wait_for_warp(unsigned mask, unsigned long long value, unsigned source) {
    const unsigned id = variables_.thread->x;
    thread_state& me = threads_[id];
    if ((mask >> id % warp & 1) == 0)
      report_once("a thread calls a function of its warp with a mask that leaves it out");
    me.state = waiting::for_warp, me.mask = mask, me.given = value, me.source = source;
    leave_for(lanes_of(id));
    release_warp_if_complete(lanes_of(id), mask);
    pause_until_released(me);
    come_after(lanes_of(id));
    return me.received;
  }
  void release_warp_if_complete(thread_state* lanes, unsigned mask) {
    const unsigned all = lanes_where(lanes, mask, [](const thread_state&) { return true; });
    const unsigned ended = lanes_where(lanes, mask, [](const thread_state& t) { return t.state == waiting::ended; });
    const unsigned here =
        lanes_where(lanes, mask, [=](const thread_state& t) { return t.state == waiting::for_warp && t.mask == mask; });
    if (here == 0 || (here | ended) != all) return;  // lanes that have ended are not waited for
    const unsigned votes = lanes_where(lanes, here, [](const thread_state& t) { return t.given != 0; });
    for (unsigned k = 0; k < warp; ++k)
      if ((here >> k & 1) != 0) lanes[k].received = lanes[k].source == ballot ? votes : given(lanes, here, k);
    for (unsigned k = 0; k < warp; ++k)
      if ((here >> k & 1) != 0) lanes[k].state = waiting::not_at_all;
  }
  // The value for a lane; where its source takes no part, one that nobody means.
  static unsigned long long given(const thread_state* lanes, unsigned here, unsigned lane) {
    const unsigned from = lanes[lane].source;
    return (here >> from & 1) != 0 ? lanes[from].given : 0xA5A5A5A5A5A5A5A5;
  }
  // The lanes of a mask that the block has and for which `f` is true.
  template <class F>
  unsigned lanes_where(const thread_state* lanes, unsigned mask, F f) const {
    unsigned found = 0;
    for (unsigned k = 0; k < warp && lanes + k < threads_.data() + count_; ++k)
      if ((mask >> k & 1) != 0 && f(lanes[k])) found |= 1u << k;
    return found;
  }
  thread_state* lanes_of(unsigned id) { return &threads_[id / warp * warp]; }

  void pause_until_released(thread_state& me) {
    if (me.state != waiting::not_at_all) me.on->pause();
  }

  // All threads wait or have ended: a barrier stays incomplete for ever.
  void give_up_barriers() {
    const auto count = [&](waiting state) {
      return std::count_if(threads_.begin(), threads_.end(), [=](const thread_state& t) { return t.state == state; });
    };
    const auto at_line = std::find_if(threads_.begin(), threads_.end(),
                                      [](const thread_state& t) { return t.state == waiting::for_block; });
    std::string text = std::to_string(count(waiting::for_block)) + " of " + std::to_string(count_) +
                       " threads of a block wait at a barrier";
    if (at_line != threads_.end()) text += " of line " + std::to_string(at_line->line);
    report_once(text + ", " + std::to_string(count(waiting::for_warp)) + " for their warp, and " +
                std::to_string(count(waiting::ended)) + " have ended");
    at_barrier_ = 0;
    for (thread_state& t : threads_)
      if (t.state != waiting::ended) t.state = waiting::not_at_all;
  }

  // Blocks of a grid do the same wrong.
  void report_once(const std::string& sentence) {
    if (!std::exchange(has_reported_, true)) report(sentence);
  }

  unsigned ordered(unsigned k) const { return order_ == thread_order::forward ? k : count_ - 1 - k; }
  void set_running(unsigned me) { *variables_.thread = {me, 0, 0}; }

  const grid& work_;
  const thread_order order_;
  const unsigned count_;
  const variables variables_;
  std::vector<thread_state> threads_;
  unsigned begun_ = 0, ended_ = 0, at_barrier_ = 0;
  std::size_t idle_ = 0;
  bool has_reported_ = false;
};

}  // namespace

void run(const grid& work, thread_order order) {
  if (work.blocks.x > 0 && work.threads.x > 0) grid_run(work, order).run();
}

}  // namespace fake_cuda
