// Bodies of <pinion/device/cuda/memory.hpp>.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/device/cuda/memory.hpp>
#include <pinion/device/size_class.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

inline std::size_t block_size(std::size_t bytes) {
  constexpr std::size_t smallest = 512;
  return devices::size_class_bytes(devices::size_class_of(std::max(bytes, smallest)));
}

inline buffer* take_idle(std::multimap<std::size_t, buffer*>& idle, std::size_t size) {
  const auto at = idle.find(size);
  if (at == idle.end()) return nullptr;
  buffer* const b = at->second;
  idle.erase(at);
  return b;
}

}  // namespace detail

PINION_DECL memory::memory(std::shared_ptr<card> on, std::shared_ptr<stream> order, std::int64_t limit, bool reserve)
    : card_(std::move(on)), order_(std::move(order)), limit_(limit) {
  card_->enter();
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, card_->facts().number};
  how.maxSize = static_cast<std::size_t>(limit);
  card_->expect(cudaMemPoolCreate(&pool_, &how), "cudaMemPoolCreate");
  auto keep_all = std::numeric_limits<std::uint64_t>::max();
  card_->expect(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all), "cudaMemPoolSetAttribute");
  if (reserve) give_back(fresh_block(static_cast<std::size_t>(limit)));
}

PINION_DECL memory::~memory() {
  {
    std::lock_guard hold(mutex_);  // the last block may have come back in another thread
    return_idle_blocks();
  }
  cudaStreamSynchronize(order_->handle());
  cudaMemPoolDestroy(pool_);
}

PINION_DECL buffer* memory::allocate(std::size_t bytes) {
  const std::size_t size = detail::block_size(bytes);
  std::lock_guard hold(mutex_);
  buffer* b = idle_block(size);
  if (!b && used_ + static_cast<std::int64_t>(size) <= limit_) b = fresh_block(size);
  if (!b)
    throw error(errc::resource_exhausted, "no memory for " + std::to_string(bytes) + " bytes on " + card_->device() +
                                              ": " + std::to_string(used_) + " of " + std::to_string(limit_) +
                                              " bytes are in use" + what_is_in_use())
        .on_device(card_->device());
  used_ += static_cast<std::int64_t>(size);
  peak_ = std::max(peak_, used_);
  ++in_use_[size];
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void memory::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  std::lock_guard hold(mutex_);
  used_ -= static_cast<std::int64_t>(b->capacity());
  if (const auto at = in_use_.find(b->capacity()); --at->second == 0) in_use_.erase(at);
  idle_.emplace(b->capacity(), b);
}

PINION_DECL std::int64_t memory::used() const {
  std::lock_guard hold(mutex_);
  return used_;
}

PINION_DECL std::int64_t memory::peak() const {
  std::lock_guard hold(mutex_);
  return peak_;
}

PINION_DECL buffer* memory::idle_block(std::size_t size) {
  return detail::take_idle(idle_, size);
}

PINION_DECL buffer* memory::fresh_block(std::size_t size) {
  card_->enter();
  void* data = nullptr;
  const auto take = [&] { return cudaMallocFromPoolAsync(&data, size, pool_, order_->handle()); };
  cudaError_t how = take();
  if (how == cudaErrorMemoryAllocation && !idle_.empty()) {
    cudaGetLastError();
    return_idle_blocks();
    cudaStreamSynchronize(order_->handle());
    how = take();
  }
  if (how == cudaErrorMemoryAllocation) return cudaGetLastError(), nullptr;
  card_->expect(how, "cudaMallocFromPoolAsync");
  return new buffer(data, size);
}

PINION_DECL void memory::return_idle_blocks() noexcept {
  for (auto& [size, b] : idle_) give_back(b);
  idle_.clear();
}

PINION_DECL void memory::give_back(buffer* b) noexcept {
  if (!b) return;
  cudaFreeAsync(b->data(), order_->handle());
  delete b;
}

PINION_DECL std::string memory::what_is_in_use() const {
  constexpr int most = 3;
  std::string text;
  int told = 0;
  for (auto at = in_use_.rbegin(); at != in_use_.rend() && told < most; ++at, ++told)
    text += std::string(told == 0 ? "; the largest blocks are " : ", ") + std::to_string(at->second) + " of " +
            std::to_string(at->first) + " bytes";
  return text;
}

PINION_DECL pinned_memory& pinned_memory::of_gpus() {
  struct shared_pinned {
    const std::shared_ptr<pinned_memory> memory = std::make_shared<pinned_memory>();
  };
  return *of_this_process<shared_pinned>().memory;
}

PINION_DECL buffer* pinned_memory::allocate(std::size_t bytes) {
  const std::size_t size = detail::block_size(bytes);
  buffer* b = nullptr;
  {
    std::lock_guard hold(mutex_);
    b = detail::take_idle(idle_, size);
    if (b) idle_bytes_ -= size;
  }
  if (!b) {
    void* data = nullptr;
    if (const cudaError_t failed = cudaHostAlloc(&data, size, cudaHostAllocPortable))
      throw error(errc::resource_exhausted, "no memory of the host for " + std::to_string(bytes) +
                                                " bytes that a GPU copies: " + cudaGetErrorString(failed));
    b = new buffer(data, size);
  }
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void pinned_memory::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  {
    std::lock_guard hold(mutex_);
    if (idle_bytes_ + b->capacity() <= most_idle) {
      idle_bytes_ += b->capacity();
      idle_.emplace(b->capacity(), b);
      return;
    }
  }
  cudaFreeHost(b->data());
  delete b;
}

PINION_DECL void pinned_memory::trim() noexcept {
  std::lock_guard hold(mutex_);
  for (auto& [size, b] : idle_) {
    cudaFreeHost(b->data());
    delete b;
  }
  idle_.clear();
  idle_bytes_ = 0;
}

}}}  // namespace pinion::v0::cuda
