// The account of a device's memory: its blocks, and who holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// Keeps account of blocks that count against a limit. Those that came back wait for their next holders, by size. It
// owns the blocks and not their bytes. Belongs to an allocator, which guards it against other threads.
class ledger {
 public:
  ledger(std::string device, std::int64_t limit);
  ~ledger();

  const std::string& device() const { return device_; }
  std::int64_t limit() const { return limit_; }
  // The bytes in use now, and the most that were ever in use.
  std::int64_t used() const { return used_; }
  std::int64_t peak() const { return peak_; }

  bool has_room(std::size_t size) const { return used_ + static_cast<std::int64_t>(size) <= limit_; }
  // An idle block of exactly that size, which is then in use; null: there is none.
  buffer* take_idle(std::size_t size, std::string_view holder);
  // Makes a block of new memory, which is in use at once.
  buffer* add(void* data, std::size_t size, std::string_view holder);
  // Names another holder of a block in use.
  void rename(buffer& in_use, std::string_view holder);
  // Keeps a block that came back for its next holder.
  void keep(buffer& b);
  // Forgets the idle blocks, and returns their memory.
  std::vector<void*> drop_idle();

  // The error of a request that found no room: resource_exhausted, with the largest holders; `more` ends the sentence.
  error no_memory(std::size_t bytes, const std::string& more = "") const;

 private:
  struct block;

  buffer* enter(block& b, std::string_view holder);
  std::string largest_holders() const;

  const std::string device_;
  const std::int64_t limit_;
  std::int64_t used_ = 0, peak_ = 0;
  std::vector<std::unique_ptr<block>> blocks_;  // in use or idle
  std::multimap<std::size_t, block*> idle_;
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/ledger.ipp>
#endif
