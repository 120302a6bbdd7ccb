// Bodies of memory.hpp.
#include "memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "misuse.hpp"

namespace fake_cuda {

namespace {

#ifdef FAKE_CUDA_ADDRESS_SANITIZER
constexpr std::size_t guard = 0;  // the sanitizer sees what is written behind a block
#else
constexpr std::size_t guard = 64;
#endif
constexpr auto in_guard = std::byte{0xBD};

bool is_guard_whole(const memory_block& block) {
  return std::all_of(block.at + block.size, block.at + block.size + guard, [](std::byte b) { return b == in_guard; });
}

}  // namespace

memory_block& address_book::add(std::size_t size, int device, CUmemPoolHandle_st* pool) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, size + guard) != 0) throw std::bad_alloc();
  auto* const at = static_cast<std::byte*>(memory);
  std::fill_n(at + size, guard, in_guard);
  return blocks_.insert_or_assign(at, memory_block{at, size, device, pool}).first->second;
}

memory_block* address_book::find(const void* address) {
  const auto* const at = static_cast<const std::byte*>(address);
  auto next = blocks_.upper_bound(at);
  if (next == blocks_.begin()) return nullptr;
  memory_block& block = std::prev(next)->second;
  return at <= block.at + block.size ? &block : nullptr;
}

memory_block* address_book::beginning_at(const void* address) {
  const auto found = blocks_.find(static_cast<const std::byte*>(address));
  return found == blocks_.end() ? nullptr : &found->second;
}

void address_book::remove(memory_block& block) {
  if (!is_guard_whole(block)) report("somebody wrote behind the end of " + describe(&block, block.at));
  std::memset(block.at, 0xDD, block.size);
  std::byte* const at = block.at;
  blocks_.erase(at);
  std::free(at);
}

std::size_t address_book::used(int device) const {
  std::size_t bytes = 0;
  for (const auto& [unused, block] : blocks_)
    if (block.device == device && !block.is_freed) bytes += block.size;
  return bytes;
}

void address_book::leave(const CUmemPoolHandle_st& pool) {
  for (auto& [unused, block] : blocks_)
    if (block.pool == &pool) block.pool = nullptr;
}

void address_book::clear() {
  while (!blocks_.empty()) remove(blocks_.begin()->second);
}

void poison_new(void* at, std::size_t size) {
  std::memset(at, 0xA5, size);
}

std::string describe(const memory_block* block, const void* address) {
  if (!block) return "an address that is no memory of CUDA";
  const std::string where =
      block->device == memory_block::host ? "in pinned memory" : "on device " + std::to_string(block->device);
  const auto behind = static_cast<const std::byte*>(address) - block->at;
  return "byte " + std::to_string(behind) + " of a block of " + std::to_string(block->size) + " bytes " + where +
         (block->is_freed ? ", which was freed" : "");
}

}  // namespace fake_cuda
