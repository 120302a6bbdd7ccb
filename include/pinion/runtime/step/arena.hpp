// The memory of one run: every block at the offset that a plan gave it.
//
// Invariants
//   1. A block is given out only when no block that it shares memory with is in use, so a plan that turns out to be
//      wrong costs time and never a value. In runs in order it suffices that the blocks are back which had the memory
//      last.
//   2. A block that a run in order could not give out counts as taken until the run ends, so that blocks which take
//      over its memory are not given out either.
//   3. A run gives out each block at most once.
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
// the pool. Blocks may come back in any thread. Owned by a shared pointer, which lets go of it by let_go(); blocks that
// are then still in use keep it alive.
class arena final : public allocator {
 public:
  // `watched` has the blocks that must be back when a block is given out: its formers for runs in order, and else its
  // neighbours. Requires: the memory is as large as the plan, and the pool outlives the arena's use.
  arena(const std::vector<noted_block>& noted, const memory_plan& plan, block_lists watched, arena_memory memory,
        allocator& pool);

  // Begins a run. Requires: all blocks are back.
  void begin();
  // Gives out the next block. Requires: items run in order.
  buffer* allocate(std::size_t bytes, std::string_view) override;
  // Gives out block i. Several threads may claim blocks at the same time.
  buffer* claim(std::size_t i, std::size_t bytes);
  void recycle(buffer* idle) noexcept override;
  // The owner's last call.
  void let_go();

  bool all_back() const { return returned_.load(std::memory_order_acquire) == given_.load(std::memory_order_relaxed); }
  // Is block i in use?
  bool in_use(std::size_t i) const { return blocks_[i].busy.load(std::memory_order_acquire) && !blocks_[i].withheld; }
  // Has this run asked for memory that did not fit the plan?
  bool misfits() const { return misfits_.load(std::memory_order_relaxed); }

 private:
  struct block final : buffer {
    block() : buffer(nullptr, 0) {}
    std::atomic<bool> busy{false};
    bool leaves = false;    // has memory of its own
    bool withheld = false;  // counts as busy, and was not given out
    const int* first_watched = nullptr;
    const int* last_watched = nullptr;
  };
  bool others_are_back(const block& b) const;
  buffer* give(block& b, std::size_t bytes);
  buffer* misfit(std::size_t bytes);

  std::vector<block> blocks_;
  const block_lists watched_;
  const arena_memory memory_;
  allocator& pool_;
  std::size_t next_ = 0;
  std::atomic<bool> misfits_{false};
  std::atomic<std::int64_t> given_{0};
  std::atomic<std::int64_t> returned_{0};  // below 0: the owner has let go, and so many blocks are in use
  std::shared_ptr<allocator> self_;        // set when the owner has let go
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/arena.ipp>
#endif
