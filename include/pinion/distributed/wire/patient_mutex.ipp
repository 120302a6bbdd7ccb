// Bodies of <pinion/distributed/wire/patient_mutex.hpp>.
#pragma once

#include <chrono>

#include <pinion/distributed/wire/patient_mutex.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL patient_mutex::lock::lock(patient_mutex& of, rpc::network& net, const wait_options& how) : of_(of) {
  long_wait waits(net, how);
  while (const auto holder = of_.take()) {
    net.wait(*holder, net.now() + std::chrono::milliseconds(100));
    waits.look();
  }
}

PINION_DECL patient_mutex::lock::~lock() {
  std::shared_ptr<countdown> ended;
  {
    std::lock_guard hold(of_.mutex_);
    ended.swap(of_.held_);
  }
  ended->count_down();
}

PINION_DECL std::shared_ptr<countdown> patient_mutex::take() {
  std::lock_guard hold(mutex_);
  if (held_) return held_;
  held_ = std::make_shared<countdown>();
  return nullptr;
}

}}}  // namespace pinion::v0::distributed
