// Bodies of <pinion/runtime/step/arena.hpp>.
#pragma once

#include <algorithm>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <pinion/runtime/step/arena.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// The address sanitizer reports reads and writes of arena memory that no block in use has.
inline void forbid([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(data, bytes);
#endif
}
inline void permit([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
#endif
}

}  // namespace detail

PINION_DECL arena_memory arena_memory::of(std::size_t bytes) {
  constexpr std::align_val_t alignment{memory_plan::alignment};
  auto* const data = static_cast<std::byte*>(::operator new(bytes ? bytes : 1, alignment, std::nothrow));
  if (!data) return {};
  detail::forbid(data, bytes);
  const auto free = [bytes, alignment](std::byte* p) {
    detail::permit(p, bytes);
    ::operator delete(p, alignment);
  };
  return {std::shared_ptr<std::byte>(data, free), bytes};
}

PINION_DECL arena::arena(const std::vector<noted_block>& noted, const memory_plan& plan, arena_memory memory,
                         allocator& pool)
    : blocks_(noted.size()), formers_(plan.formers), memory_(std::move(memory)), pool_(pool) {
  // The blocks refer to the arena without a share in it, which would cost two atomic operations for each allocation.
  const std::shared_ptr<allocator> home(std::shared_ptr<allocator>(), this);
  for (std::size_t i = 0; i < noted.size(); ++i) {
    block& b = blocks_[i];
    b.leaves = noted[i].leaves;
    b.first_former = formers_.data() + plan.first_former[i];
    b.last_former = formers_.data() + plan.first_former[i + 1];
    if (b.leaves) continue;
    b.stand_for(memory_.data.get() + plan.offsets[i], noted[i].life.bytes);
    b.hand_out(home);
  }
}

PINION_DECL void arena::begin() {
  if (misfits_ > 0)
    for (block& b : blocks_)
      if (std::exchange(b.spoiled, false)) b.busy.store(false, std::memory_order_relaxed);
  next_ = 0;
  misfits_ = 0;
  given_ = 0;
  returned_.store(0, std::memory_order_relaxed);
}

PINION_DECL buffer* arena::allocate(std::size_t bytes) {
  if (next_ == blocks_.size()) return misfit(bytes);
  block& b = blocks_[next_++];
  if (b.leaves) return pool_.allocate(bytes);
  const bool fits = may_give(b, bytes);
  b.busy.store(true, std::memory_order_relaxed);
  if (!fits) {
    b.spoiled = true;
    return misfit(bytes);
  }
  detail::permit(b.data(), bytes);
  ++given_;
  b.hand_out_again();
  return &b;
}

PINION_DECL bool arena::may_give(const block& b, std::size_t bytes) const {
  return bytes <= b.capacity() && std::none_of(b.first_former, b.last_former, [this](int former) {
           return blocks_[static_cast<std::size_t>(former)].busy.load(std::memory_order_acquire);
         });
}

PINION_DECL buffer* arena::misfit(std::size_t bytes) {
  ++misfits_;
  return pool_.allocate(bytes);
}

PINION_DECL void arena::recycle(buffer* idle) noexcept {
  auto* const b = static_cast<block*>(idle);
  detail::forbid(b->data(), b->capacity());
  b->busy.store(false, std::memory_order_release);
  if (returned_.fetch_add(1, std::memory_order_acq_rel) == -1) const auto last = std::move(self_);
}

PINION_DECL void arena::let_go() {
  self_ = shared_from_this();
  if (returned_.fetch_sub(given_, std::memory_order_acq_rel) == given_) const auto last = std::move(self_);
}

}}}  // namespace pinion::v0::runtime
