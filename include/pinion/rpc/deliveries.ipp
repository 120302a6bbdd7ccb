// Bodies of <pinion/rpc/deliveries.hpp>.
#pragma once

#include <mutex>
#include <vector>

#include <pinion/rpc/deliveries.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void deliveries::expect(const std::shared_ptr<connection>& from) {
  if (!from) return;
  std::lock_guard hold(from->mutex_);
  open_.push_back({from, from->out_.added()});
}

PINION_DECL bool deliveries::are_made() {
  std::erase_if(open_, is_made);
  return open_.empty();
}

PINION_DECL bool deliveries::is_made(delivery& d) {
  const auto from = d.from.lock();
  if (!from || from->over_) return true;
  if (!d.bytes) {
    std::lock_guard hold(from->mutex_);
    if (!from->out_.are_gone(d.messages)) return false;
    d.bytes = from->written_.load(std::memory_order_relaxed);
  }
  return from->bytes_taken() >= *d.bytes;
}

}}}  // namespace pinion::v0::rpc
