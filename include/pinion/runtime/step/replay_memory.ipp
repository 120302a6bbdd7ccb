// Bodies of <pinion/runtime/step/replay_memory.hpp>.
#pragma once

#include <pinion/runtime/step/replay_memory.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL replay_memory::~replay_memory() {
  for (auto& [size, b] : idle_) delete b;
}

PINION_DECL buffer* replay_memory::allocate(std::size_t bytes, std::string_view holder) {
  std::lock_guard hold(mutex_);
  const auto at = idle_.lower_bound(bytes);
  buffer* b = nullptr;
  if (at != idle_.end() && at->first / 2 <= bytes) {
    b = at->second;
    idle_.erase(at);
  } else {
    blocks_.emplace_back(of_.allocate(bytes, holder));
    b = new buffer(blocks_.back()->data(), blocks_.back()->capacity());
  }
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void replay_memory::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  std::lock_guard hold(mutex_);
  idle_.emplace(b->capacity(), b);
}

}}}  // namespace pinion::v0::runtime
