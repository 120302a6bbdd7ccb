// Streams of the stand-in: threads that do their tasks in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include <driver_types.h>

namespace fake_cuda {

struct device;

struct task {
  std::function<void()> work;
  bool also_after_fault = false;  // what others wait for is done in any case
};

}  // namespace fake_cuda

// One stream. Its destruction waits for its tasks. All functions may be called by any thread.
struct CUstream_st {
  CUstream_st(fake_cuda::device& on, unsigned number);
  CUstream_st(const CUstream_st&) = delete;
  ~CUstream_st();

  fake_cuda::device& on() const { return on_; }

  // Adds a task behind all others, and returns its number; or adds it to the graph that the stream is captured into,
  // and returns 0. One thread at a time gives tasks to streams that are captured together.
  std::uint64_t push(fake_cuda::task work);
  // Returns when the tasks up to a number are done.
  void wait(std::uint64_t number);
  void wait_for_all();
  bool is_idle();

  // The graph into which tasks go, or null.
  std::atomic<CUgraph_st*> captured_into = nullptr;

 private:
  void work();
  void pause_at_random();

  fake_cuda::device& on_;
  std::mutex mutex_;
  std::condition_variable woken_, done_;
  std::deque<fake_cuda::task> tasks_;
  std::uint64_t pushed_ = 0, finished_ = 0;
  bool is_ending_ = false;
  std::mt19937 dice_;
  std::thread thread_;  // the last member: it uses the others
};
