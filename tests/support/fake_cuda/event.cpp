// Bodies of event.hpp.
#include "event.hpp"

#include <algorithm>

#include "order.hpp"

// A lock that orders nothing but the destruction of the event, which comes after it.
class CUevent_st::lock : public fake_cuda::own_lock {
 public:
  explicit lock(CUevent_st& event) : own_lock(event.mutex_), event_(event) {}
  ~lock() {
    unlock();
    fake_cuda::leave_for(&event_.mutex_);
  }

 private:
  CUevent_st& event_;
};

CUevent_st::~CUevent_st() {
  fake_cuda::come_after(&mutex_);
}

std::uint64_t CUevent_st::begin_record() {
  lock held(*this);
  return ++recorded_;
}

void CUevent_st::reach(std::uint64_t number) {
  fake_cuda::leave_for(this);
  lock held(*this);
  reached_ = std::max(reached_, number);
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

std::uint64_t CUevent_st::latest() {
  lock held(*this);
  return recorded_;
}

bool CUevent_st::is_reached(std::uint64_t number) {
  {
    lock held(*this);
    if (reached_ < number) return false;
  }
  fake_cuda::come_after(this);
  return true;
}

void CUevent_st::wait(std::uint64_t number) {
  {
    lock held(*this);
    changed_.wait(held, [&] { return reached_ >= number; });
  }
  fake_cuda::come_after(this);
}

std::chrono::steady_clock::time_point CUevent_st::time() {
  lock held(*this);
  return time_;
}
