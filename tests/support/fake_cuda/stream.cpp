// Bodies of stream.hpp.
#include "stream.hpp"

#include <chrono>
#include <utility>

#include "graph.hpp"
#include "machine.hpp"
#include "order.hpp"

using fake_cuda::own_lock;
using fake_cuda::task;

CUstream_st::CUstream_st(fake_cuda::device& on, unsigned number)
    : on_(on), dice_(fake_cuda::the_machine().now.seed + number), thread_([this] { work(); }) {}

CUstream_st::~CUstream_st() {
  {
    own_lock lock(mutex_);
    is_ending_ = true;
    woken_.notify_one();
  }
  thread_.join();
}

std::uint64_t CUstream_st::push(task work) {
  if (CUgraph_st* const graph = captured_into) {
    graph->tasks.push_back(std::move(work));
    ++graph->branches[this].tasks;
    return 0;
  }
  own_lock lock(mutex_);
  tasks_.push_back(std::move(work));
  fake_cuda::leave_for(&tasks_);
  woken_.notify_one();
  return ++pushed_;
}

void CUstream_st::wait(std::uint64_t number) {
  {
    own_lock lock(mutex_);
    done_.wait(lock, [&] { return finished_ >= number; });
  }
  fake_cuda::come_after(this);
}

void CUstream_st::wait_for_all() {
  std::uint64_t last = 0;
  {
    own_lock lock(mutex_);
    last = pushed_;
  }
  wait(last);
}

bool CUstream_st::is_idle() {
  {
    own_lock lock(mutex_);
    if (finished_ < pushed_) return false;
  }
  fake_cuda::come_after(this);
  return true;
}

// The stream's thread.
void CUstream_st::work() {
  for (;;) {
    task next;
    {
      own_lock lock(mutex_);
      woken_.wait(lock, [this] { return is_ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      fake_cuda::come_after(&tasks_);
      next = std::move(tasks_.front());
      tasks_.pop_front();
    }
    pause_at_random();
    if (next.also_after_fault || on_.fault == cudaSuccess) next.work();
    next.work = nullptr;
    fake_cuda::leave_for(this);
    own_lock lock(mutex_);
    ++finished_;
    done_.notify_all();
  }
}

void CUstream_st::pause_at_random() {
  const unsigned longest = fake_cuda::the_machine().now.jitter_us;
  if (longest == 0) return;
  const unsigned pause = std::uniform_int_distribution<unsigned>(0, 2 * longest)(dice_);
  if (pause > longest)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
}
