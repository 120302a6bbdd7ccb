// Bodies of <pinion/device/ordered_thread.hpp>.
#pragma once

#include <utility>

#include <pinion/base/countdown.hpp>
#include <pinion/device/ordered_thread.hpp>

namespace pinion { inline namespace v0 { namespace devices {

PINION_DECL ordered_thread::~ordered_thread() {
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

PINION_DECL void ordered_thread::post(std::function<void()> f) {
  {
    std::lock_guard hold(mutex_);
    queue_.push_back(std::move(f));
  }
  wake_.notify_one();
}

PINION_DECL void ordered_thread::settle() {
  countdown reached;
  post([&reached] { reached.count_down(); });
  reached.wait();
}

PINION_DECL void ordered_thread::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    wake_.wait(hold, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto f = std::move(queue_.front());
    queue_.pop_front();
    hold.unlock();
    f();
    f = {};
    hold.lock();
  }
}

}}}  // namespace pinion::v0::devices
