// Bodies of event.hpp.
#include "event.hpp"

#include <algorithm>

#include "order.hpp"

using fake_cuda::own_lock;

std::uint64_t CUevent_st::begin_record() {
  own_lock lock(mutex_);
  return ++recorded_;
}

void CUevent_st::reach(std::uint64_t number) {
  fake_cuda::leave_for(this);
  own_lock lock(mutex_);
  reached_ = std::max(reached_, number);
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

std::uint64_t CUevent_st::latest() {
  own_lock lock(mutex_);
  return recorded_;
}

bool CUevent_st::is_reached(std::uint64_t number) {
  {
    own_lock lock(mutex_);
    if (reached_ < number) return false;
  }
  fake_cuda::come_after(this);
  return true;
}

void CUevent_st::wait(std::uint64_t number) {
  {
    own_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= number; });
  }
  fake_cuda::come_after(this);
}

std::chrono::steady_clock::time_point CUevent_st::time() {
  own_lock lock(mutex_);
  return time_;
}
