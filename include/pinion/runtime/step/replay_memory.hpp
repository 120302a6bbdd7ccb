// The memory of recorded work, which stays where it is as long as the work may be enqueued again.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Hands out blocks of a device's memory and keeps all of them to its end. A block that comes back is handed out again,
// since work of one stream is recorded in order. Thread-safe. Throws what the device's memory throws.
class replay_memory final : public allocator {
 public:
  // The device's memory outlives it.
  explicit replay_memory(allocator& of) : of_(of) {}
  ~replay_memory() override;

  bool is_host() const override { return false; }
  buffer* allocate(std::size_t bytes, std::string_view holder) override;
  void recycle(buffer* b) noexcept override;

 private:
  allocator& of_;
  std::mutex mutex_;
  std::vector<buffer_ref> blocks_;
  std::multimap<std::size_t, buffer*> idle_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/replay_memory.ipp>
#endif
