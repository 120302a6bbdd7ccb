// The memory of one run: every block at the offset that a plan gave it.
//
// Invariants
//   1. A run takes the blocks in the order of the plan. A block is given out only when all blocks that had its memory
//      before are back, so a plan that turns out to be wrong costs time and never a value.
//   2. A block that cannot be given out counts as taken until the run ends, so that blocks which take over its memory
//      are not given out either.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/life_recorder.hpp>
#include <pinion/runtime/step/memory_plan.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Memory that arenas share which are not in use at the same time.
struct arena_memory {
  std::shared_ptr<std::byte> data;
  std::size_t bytes = 0;
  // Returns memory of that size, or none where the system has none.
  static arena_memory of(std::size_t bytes);
};

// Hands out the blocks of a plan, one run after the other, without a lock. What the plan does not foresee comes from
// the pool. One thread allocates; blocks may come back in any thread. Owned by a shared pointer, which lets go of it by
// let_go(); blocks that are then still in use keep it alive.
class arena final : public allocator {
 public:
  // Requires: the memory is as large as the plan, and the pool outlives the arena's use.
  arena(const std::vector<noted_block>& noted, const memory_plan& plan, arena_memory memory, allocator& pool);

  // Begins a run. Requires: all blocks are back.
  void begin();
  buffer* allocate(std::size_t bytes) override;
  void recycle(buffer* idle) noexcept override;
  // The owner's last call.
  void let_go();

  bool all_back() const { return returned_.load(std::memory_order_acquire) == given_; }
  // Is block i in use?
  bool in_use(std::size_t i) const { return blocks_[i].busy.load(std::memory_order_acquire) && !blocks_[i].spoiled; }
  // The number of allocations of this run that did not fit the plan.
  int misfits() const { return misfits_; }

 private:
  struct block final : buffer {
    block() : buffer(nullptr, 0) {}
    std::atomic<bool> busy{false};
    bool leaves = false;   // has memory of its own
    bool spoiled = false;  // was not given out in this run
    const int* first_former = nullptr;
    const int* last_former = nullptr;
  };
  bool may_give(const block& b, std::size_t bytes) const;
  buffer* misfit(std::size_t bytes);

  std::vector<block> blocks_;
  const std::vector<int> formers_;
  const arena_memory memory_;
  allocator& pool_;
  std::size_t next_ = 0;
  int misfits_ = 0;
  std::int64_t given_ = 0;
  std::atomic<std::int64_t> returned_{0};  // below 0: the owner has let go, and so many blocks are in use
  std::shared_ptr<allocator> self_;        // set when the owner has let go
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/arena.ipp>
#endif
