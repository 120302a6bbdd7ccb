// The memory of a GPU, and host memory that a GPU reaches by itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/device/cuda/stream.hpp>
#include <pinion/device/ledger.hpp>
#include <pinion/tensor/buffer.hpp>

struct CUmemPoolHandle_st;

namespace pinion { inline namespace v0 { namespace cuda {

// Memory of a GPU, taken from a pool of CUDA in the order of one stream. Blocks that come back are kept by size and
// handed out again at once, since their next user stands behind the last one in the stream; CUDA gets them back where
// the memory runs out. Thread-safe. allocate() throws resource_exhausted beyond the limit, and where CUDA has no more;
// the sentence tells the request, the limit, the largest holders, and what is free on the GPU if that is less.
class memory final : public allocator {
 public:
  // `limit`: bytes; `reserve`: takes all of them at once, and throws resource_exhausted where the GPU has less.
  memory(std::shared_ptr<card> on, std::shared_ptr<stream> order, std::int64_t limit, bool reserve);
  ~memory() override;

  bool is_host() const override { return false; }
  buffer* allocate(std::size_t bytes, std::string_view holder) override;
  void rename(buffer& in_use, std::string_view holder) override;
  void recycle(buffer* b) noexcept override;

  // Gives another GPU access to the memory, so that copies between them take no way over the host, if the machine
  // allows that. Access of kernels to memory of a pool follows from this alone, and not from
  // cudaDeviceEnablePeerAccess.
  void open_to(const card_facts& peer);
  // The GPU's number by CUDA.
  int card_number() const { return card_->facts().number; }
  std::int64_t limit() const { return ledger_.limit(); }
  // The bytes in use now, and the most that were ever in use.
  std::int64_t used() const;
  std::int64_t peak() const;

 private:
  static std::shared_ptr<CUmemPoolHandle_st> make_pool(card& on, std::int64_t limit);
  void take_all();
  // Memory of the pool; null: CUDA has no more.
  void* fresh_memory(std::size_t size);
  // Returns false where there are none.
  bool return_idle_blocks();
  void give_back(void* data) noexcept;
  // "F of T bytes are free"
  std::string what_is_free() const;

  const std::shared_ptr<card> card_;
  const std::shared_ptr<stream> order_;
  const std::shared_ptr<CUmemPoolHandle_st> pool_;
  mutable std::mutex mutex_;
  devices::ledger ledger_;
  std::set<int> peers_;  // that have been asked for
};

// Host memory that no page fault moves, so that copies between it and a GPU run at full speed and beside the host.
// Blocks that come back are kept. There is one for all GPUs of the process. Thread-safe. allocate() throws
// resource_exhausted.
class pinned_memory final : public allocator {
 public:
  static pinned_memory& of_gpus();

  buffer* allocate(std::size_t bytes, std::string_view) override;
  // From now on, page_locked_tensor() is served: this process uses a GPU, so that memory for it makes no context.
  void serve_tensors(const card& by);
  void recycle(buffer* b) noexcept override;
  buffer* allocate_for_copy(std::size_t bytes) noexcept override { return allocate_for_tensor(bytes); }
  // Gives the system the blocks that nobody uses.
  void trim() noexcept;

 private:
  static constexpr std::size_t most_idle = 512 << 20, most_of_tensors = std::size_t{1} << 30;  // bytes

  // Null where that would be more than `most` bytes in use.
  buffer* take(std::size_t bytes, std::size_t most);
  // Null where there is no room, where the system has none, and behind a fork().
  buffer* allocate_for_tensor(std::size_t bytes) noexcept;
  // A block that CUDA makes.
  buffer* fresh(std::size_t size) const;
  void free(buffer* b) noexcept;

  std::mutex mutex_;
  std::multimap<std::size_t, buffer*> idle_;
  std::size_t idle_bytes_ = 0, used_bytes_ = 0;
  std::atomic<int> of_card_{0};  // whose context serves to make and to free it
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/memory.ipp>
#endif
