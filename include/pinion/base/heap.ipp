// Bodies of <pinion/base/heap.hpp>.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <pinion/base/heap.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 { namespace detail {

// The blocks by which heaps are marked, one for each part of the addresses that a heap takes.
class heap_marks {
 public:
  void add() {
    std::lock_guard hold(mutex_);
    put(blocks_, std::malloc(size));
  }
  // Frees most of each block, does something, and takes as much again from the same heap.
  template <class Body>
  void free_during(const Body& body) {
    std::lock_guard hold(mutex_);
    for (auto& [part, block] : blocks_) block = resized(block, 16);
    body();
    std::map<std::uintptr_t, void*> again;
    for (auto [part, block] : std::exchange(blocks_, {})) put(again, resized(block, size));
    blocks_ = std::move(again);
  }

 private:
  static constexpr std::size_t size = std::size_t{96} << 10;  // beyond 64 KiB glibc looks at the end of the heap
  static constexpr int bits_of_part = 26;

  static void put(std::map<std::uintptr_t, void*>& into, void* block) {
    if (block && !into.emplace(reinterpret_cast<std::uintptr_t>(block) >> bits_of_part, block).second) std::free(block);
  }
  static void* resized(void* block, std::size_t bytes) {
    void* const other = std::realloc(block, bytes);
    return other ? other : block;
  }

  std::mutex mutex_;
  std::map<std::uintptr_t, void*> blocks_;
};

// Has an end that is longer than this go back when a block is freed there, but for the bytes that it keeps.
inline void limit_ends_of_heaps([[maybe_unused]] int bytes, [[maybe_unused]] int kept) {
#if defined(__GLIBC__)
  static const bool is_free_to =
      !std::getenv("MALLOC_TRIM_THRESHOLD_") && !std::getenv("MALLOC_TOP_PAD_") && !std::getenv("GLIBC_TUNABLES");
  if (!is_free_to) return;
  ::mallopt(M_TRIM_THRESHOLD, bytes);
  ::mallopt(M_TOP_PAD, kept);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL void mark_heap() {
  of_this_process<detail::heap_marks>().add();
}

PINION_DECL void give_heap_back() {
  detail::limit_ends_of_heaps(64 << 10, 0);
  of_this_process<detail::heap_marks>().free_during([] {
#if defined(__GLIBC__)
    ::malloc_trim(0);  // the pages of the blocks, too
#endif
  });
  detail::limit_ends_of_heaps(64 << 20, 128 << 10);
}

}}  // namespace pinion::v0
