// Host memory in size classes, which is kept for steps that repeat.
//
// Invariants
//   1. A block that is in use, or that a thread keeps for itself, holds the pool; a block on a shelf does not, so the
//      pool ends when nobody has a block of it.
//   2. A thread's own blocks are touched by that thread alone, so taking and returning one needs no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// Allocates host memory and keeps returned blocks by size class, so that steps that repeat ask the system for none.
// There are 16 classes between a power of two and the next. Returned blocks lie on shelves, one for each class, which
// has a lock. Of the CPUs' pool, each thread keeps some returned blocks for its own next steps, and leaves them on the
// shelves when it ends. Thread-safe. Throws resource_exhausted if the system has no memory.
class pool_allocator final : public allocator {
 public:
  ~pool_allocator() override;

  // The pool of all CPU devices, one for the process.
  static pool_allocator& of_cpus();

  buffer* allocate(std::size_t bytes, std::string_view holder = {}) override;
  void recycle(buffer* idle) noexcept override;
  // Puts the blocks that the calling thread keeps on the shelves, before the thread rests for long.
  void leave_own();
  // Returns to the system the blocks on the shelves that nobody has needed since the last call. Steps that repeat more
  // often than this is called keep theirs. Servers call it once in a while. Returns the number of bytes.
  std::int64_t trim();
  // The bytes of its blocks, in use or idle.
  std::int64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  class own_blocks;

  struct shelf {
    std::mutex mutex;
    std::vector<buffer*> idle;
    std::size_t unneeded = 0;  // the least number of idle blocks since the last trim()

    std::vector<buffer*> take_unneeded();
    buffer* take();
    // Returns false where there is no memory to note the block.
    bool keep(buffer* b) noexcept;
  };

  // Puts a block on its shelf.
  void shelve(buffer* idle) noexcept;
  void free(buffer* idle) noexcept;

  std::atomic<std::int64_t> held_{0};
  std::array<shelf, 896> shelves_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/pool_allocator.ipp>
#endif
