// Bodies of <pinion/runtime/step/life_recorder.hpp>.
#pragma once

#include <utility>

#include <pinion/base/host_memory.hpp>
#include <pinion/runtime/step/life_recorder.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// A block of a recording, in a block of the device's pool or, where that is null, in memory of the system.
struct numbered_buffer final : buffer {
  numbered_buffer(void* data, std::size_t bytes, std::size_t n, buffer_ref in)
      : buffer(data, bytes), number(n), pooled(std::move(in)) {}
  const std::size_t number;
  const buffer_ref pooled;
};

inline void* system_memory(std::size_t bytes) {
  void* const data = new_host_memory(bytes);
  if (!data) throw_no_memory(bytes);
  return data;
}

}  // namespace detail

PINION_DECL buffer* life_recorder::note(std::size_t bytes, int item) {
  buffer_ref pooled;
  if (bytes <= most_pooled) pooled = buffer_ref(device_.allocate(bytes));
  void* const data = pooled ? pooled->data() : detail::system_memory(bytes);
  std::lock_guard hold(mutex_);
  auto* const b = new detail::numbered_buffer(data, bytes, seen_.size(), std::move(pooled));
  seen_.push_back({{bytes, now_, 0}, true, item});
  ++now_;
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void life_recorder::recycle(buffer* idle) noexcept {
  const auto self = idle->leave_home();  // keeps this recorder until the end of the call
  auto* const b = static_cast<detail::numbered_buffer*>(idle);
  {
    std::lock_guard hold(mutex_);
    if (b->number < seen_.size()) {  // else the recording has ended
      seen_[b->number].leaves = false;
      seen_[b->number].life.end = now_++;
    }
  }
  if (!b->pooled) delete_host_memory(static_cast<std::byte*>(b->data()), b->capacity());
  delete b;
}

PINION_DECL std::vector<noted_block> life_recorder::finish() {
  std::lock_guard hold(mutex_);
  return std::exchange(seen_, {});
}

}}}  // namespace pinion::v0::runtime
