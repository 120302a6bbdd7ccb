// Bodies of <pinion/runtime/step/arena.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <pinion/base/host_memory.hpp>
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
  auto* const data = new_host_memory(bytes);
  if (!data) return {};
  detail::forbid(data, bytes);
  const auto free = [bytes](std::byte* p) {
    detail::permit(p, bytes);
    delete_host_memory(p, bytes);
  };
  return {std::shared_ptr<std::byte>(data, free), bytes};
}

PINION_DECL arena::arena(const std::vector<noted_block>& noted, const memory_plan& plan, block_lists watched,
                         arena_memory memory, allocator& pool)
    : blocks_(noted.size()), watched_(std::move(watched)), memory_(std::move(memory)), pool_(pool) {
  // The blocks refer to the arena without a share in it, which would cost two atomic operations for each allocation.
  const std::shared_ptr<allocator> home(std::shared_ptr<allocator>(), this);
  for (std::size_t i = 0; i < noted.size(); ++i) {
    block& b = blocks_[i];
    b.leaves = noted[i].leaves;
    b.first_watched = watched_.all.data() + watched_.first[i];
    b.last_watched = watched_.all.data() + watched_.first[i + 1];
    if (b.leaves) continue;
    b.stand_for(memory_.data.get() + plan.offsets[i], noted[i].life.bytes);
    b.hand_out(home);
  }
}

PINION_DECL void arena::begin() {
  if (misfits())
    for (block& b : blocks_)
      if (std::exchange(b.withheld, false)) b.busy.store(false, std::memory_order_relaxed);
  next_ = 0;
  misfits_.store(false, std::memory_order_relaxed);
  given_.store(0, std::memory_order_relaxed);
  returned_.store(0, std::memory_order_relaxed);
}

PINION_DECL buffer* arena::allocate(std::size_t bytes, std::string_view) {
  if (next_ == blocks_.size()) return misfit(bytes);
  block& b = blocks_[next_++];
  if (b.leaves) return pool_.allocate(bytes);
  const bool fits = bytes <= b.capacity() && others_are_back(b);
  b.busy.store(true, std::memory_order_relaxed);
  if (!fits) {
    b.withheld = true;
    return misfit(bytes);
  }
  given_.store(given_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return give(b, bytes);
}

PINION_DECL buffer* arena::claim(std::size_t i, std::size_t bytes) {
  block& b = blocks_[i];
  if (b.leaves) return pool_.allocate(bytes);
  if (bytes > b.capacity()) return misfit(bytes);
  // Each of two threads that claim blocks with common memory first marks its own and then looks at the other's, in one
  // order of all threads. So one of them at least sees the other's mark.
  b.busy.store(true, std::memory_order_seq_cst);
  if (!others_are_back(b)) {
    b.busy.store(false, std::memory_order_release);
    return misfit(bytes);
  }
  given_.fetch_add(1, std::memory_order_relaxed);
  return give(b, bytes);
}

PINION_DECL bool arena::others_are_back(const block& b) const {
  return std::none_of(b.first_watched, b.last_watched, [this](int other) {
    return blocks_[static_cast<std::size_t>(other)].busy.load(std::memory_order_seq_cst);
  });
}

PINION_DECL buffer* arena::give(block& b, std::size_t bytes) {
  detail::permit(b.data(), bytes);
  b.hand_out_again();
  return &b;
}

PINION_DECL buffer* arena::misfit(std::size_t bytes) {
  misfits_.store(true, std::memory_order_relaxed);
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
  const std::int64_t given = given_.load(std::memory_order_relaxed);
  if (returned_.fetch_sub(given, std::memory_order_acq_rel) == given) const auto last = std::move(self_);
}

}}}  // namespace pinion::v0::runtime
