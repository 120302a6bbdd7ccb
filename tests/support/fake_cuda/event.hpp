// Events of the stand-in: points in streams for which others wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <driver_types.h>

// One event. All functions may be called by any thread.
struct CUevent_st {
  CUevent_st(int of_device, unsigned with_flags) : device(of_device), flags(with_flags) {}
  CUevent_st(const CUevent_st&) = delete;
  ~CUevent_st();

  const int device;
  const unsigned flags;

  // Announces a record, and returns its number.
  std::uint64_t begin_record();
  // A stream has reached the record of a number.
  void reach(std::uint64_t number);
  // The number of the latest record; 0 if there is none.
  std::uint64_t latest();
  bool is_reached(std::uint64_t number);
  void wait(std::uint64_t number);
  std::chrono::steady_clock::time_point time();  // of the last record reached

  // The place in a capture that the latest record stands for; no graph if it was no capture.
  struct capture_place {
    CUgraph_st* graph = nullptr;
    cudaStream_t stream = nullptr;
    std::size_t tasks = 0;  // of the stream before it
  };
  capture_place captured;

 private:
  class lock;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0, reached_ = 0;
  std::chrono::steady_clock::time_point time_;
};
