// Large pieces of host memory, which other processes of the host can be shown once this process shares with them.
//
// Invariants
//   1. A slab can be read by whoever has its file, and written by this process alone: it is sealed so before anybody
//      else has the file. It never shrinks, so no access to it fails.
//   2. A piece lies in one slab, or in none. A slab goes when its last piece goes; those who were shown it learn that
//      from its first bytes, and may go on to read theirs.
//   3. After a fork the child has slabs of its own, which nobody else sees.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Memory in a file of its own. Owned by the table of this process. Immutable, but for what is in the memory.
class memory_slab {
 public:
  // The beginning of a slab, which tells a reader which one it is, and that it is gone.
  struct alignas(64) beginning {
    std::uint64_t id;                    // in this process; no other slab ever has it
    std::atomic<std::uint32_t> is_gone;  // 1: nothing more will be shown of it
  };
  static_assert(sizeof(beginning) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

  // Throws nothing: null where the system has none.
  static std::shared_ptr<memory_slab> make(std::size_t bytes) noexcept;
  memory_slab(const memory_slab&) = delete;
  ~memory_slab();

  std::uint64_t id() const { return first()->id; }
  int file() const { return file_; }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // Gives a child that was forked a copy of its own.
  void part_from_parent() noexcept;

 private:
  memory_slab(int file, std::byte* data, std::size_t bytes) : file_(file), data_(data), bytes_(bytes) {}
  beginning* first() const { return reinterpret_cast<beginning*>(data_); }

  const int file_;
  std::byte* const data_;
  const std::size_t bytes_;
};

// From the first call on, large pieces of memory are taken where other processes can be shown them. Thread-safe.
void share_host_memory();

// Takes a piece of memory, aligned to 64 bytes; null where the system has none. Thread-safe, like the next.
std::byte* new_host_memory(std::size_t bytes) noexcept;
// Gives a piece back, with the size that was asked for.
void delete_host_memory(std::byte* piece, std::size_t bytes) noexcept;

// The place of some bytes in a slab.
struct place_in_slab {
  std::shared_ptr<const memory_slab> slab;
  std::uint64_t offset;
};
// Finds bytes that belong to a piece, and nothing where it is in no slab. Thread-safe.
std::optional<place_in_slab> find_in_slabs(const void* data, std::size_t bytes);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/host_memory.ipp>
#endif
