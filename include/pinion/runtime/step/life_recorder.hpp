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

// Gives each block exact memory of the system, and numbers the events of one run. A block that leaves stays valid and
// keeps the recorder alive. Thread-safe. Throws resource_exhausted if the system has no memory.
class life_recorder final : public allocator {
 public:
  buffer* allocate(std::size_t bytes) override { return note(bytes, 0); }
  buffer* note(std::size_t bytes, int item);
  void recycle(buffer* idle) noexcept override;
  // Ends the recording and returns the blocks in the order in which they were taken.
  std::vector<noted_block> finish();

 private:
  std::mutex mutex_;
  std::vector<noted_block> seen_;
  int now_ = 0;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/life_recorder.ipp>
#endif
