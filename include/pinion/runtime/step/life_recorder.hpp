// An allocator that notes when the blocks of a run are taken and given back.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/memory_plan.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// One allocation of a run, as it was recorded. A block leaves if it is still in use when its run has ended: it was
// fetched, or a variable or a queue took it.
struct noted_block {
  block_life life;
  bool leaves = false;
  int item = 0;  // that took it; where items run in order, all are counted as one
};

// Gives blocks and numbers the events of one run. Small blocks are the device's; a large one is exact memory of the
// system, so that the device does not keep what later runs never ask it for. A block that leaves stays valid and keeps
// the recorder alive; the device outlives the run. Thread-safe. Throws resource_exhausted if there is no memory.
class life_recorder final : public allocator {
 public:
  explicit life_recorder(allocator& device) : device_(device) {}

  buffer* allocate(std::size_t bytes, std::string_view) override { return note(bytes, 0); }
  buffer* note(std::size_t bytes, int item);
  void recycle(buffer* idle) noexcept override;
  // Ends the recording and returns the blocks in the order in which they were taken.
  std::vector<noted_block> finish();

 private:
  static constexpr std::size_t most_pooled = 4 << 10;

  allocator& device_;
  std::mutex mutex_;
  std::vector<noted_block> seen_;
  int now_ = 0;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/life_recorder.ipp>
#endif
