// Bodies of <pinion/device/cuda/memory.hpp>.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/device/cuda/memory.hpp>
#include <pinion/device/size_class.hpp>
#include <pinion/tensor/page_locked.hpp>

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
    : card_(std::move(on)), order_(std::move(order)), pool_(make_pool(*card_, limit)), ledger_(card_->device(), limit) {
  if (reserve) take_all();
}

PINION_DECL memory::~memory() {
  const card::visit here(card_->facts().number);
  {
    std::lock_guard hold(mutex_);  // the last block may have come back in another thread
    return_idle_blocks();
  }
  cudaStreamSynchronize(order_->handle());
}

PINION_DECL std::shared_ptr<CUmemPoolHandle_st> memory::make_pool(card& on, std::int64_t limit) {
  on.enter();
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, on.facts().number};
#if CUDART_VERSION >= 12020
  constexpr std::size_t piece = 2 << 20;  // in which CUDA takes memory; the limit itself is kept by what is handed out
  how.maxSize = (static_cast<std::size_t>(limit) + piece - 1) / piece * piece;
#endif
  cudaMemPool_t made = nullptr;
  on.expect(cudaMemPoolCreate(&made, &how), "cudaMemPoolCreate");
  const std::shared_ptr<CUmemPoolHandle_st> pool(made, [number = on.facts().number](CUmemPoolHandle_st* p) {
    const card::visit here(number);
    cudaMemPoolDestroy(p);
  });
  auto keep_all = std::numeric_limits<std::uint64_t>::max();
  on.expect(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &keep_all), "cudaMemPoolSetAttribute");
  return pool;
}

PINION_DECL void memory::take_all() {
  if (void* const all = fresh_memory(static_cast<std::size_t>(limit()))) return give_back(all);
  throw error(errc::resource_exhausted, card_->device() + " cannot take its part of the GPU's memory, " +
                                            std::to_string(limit()) + " bytes, with its first use: " + what_is_free() +
                                            "; a smaller per_process_memory_fraction fits, or allow_growth")
      .on_device(card_->device());
}

PINION_DECL buffer* memory::allocate(std::size_t bytes, std::string_view holder) {
  const std::size_t size = detail::block_size(bytes);
  std::lock_guard hold(mutex_);
  buffer* b = ledger_.take_idle(size, holder);
  if (!b) {
    if (!ledger_.has_room(size)) throw ledger_.no_memory(bytes);
    void* const data = fresh_memory(size);
    if (!data) throw ledger_.no_memory(bytes, ", and on the GPU " + what_is_free());
    b = ledger_.add(data, size, holder);
  }
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void memory::open_to(const card_facts& peer) {
  std::lock_guard hold(mutex_);
  if (peer.number == card_number() || !peers_.insert(peer.number).second) return;
  int can = 0;
  card_->expect(cudaDeviceCanAccessPeer(&can, peer.number, card_number()), "cudaDeviceCanAccessPeer");
  if (!can) return;
  const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, peer.number}, cudaMemAccessFlagsProtReadWrite};
  card_->expect(cudaMemPoolSetAccess(pool_.get(), &access, 1), "cudaMemPoolSetAccess");
}

PINION_DECL void memory::rename(buffer& in_use, std::string_view holder) {
  std::lock_guard hold(mutex_);
  ledger_.rename(in_use, holder);
}

PINION_DECL void memory::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  std::lock_guard hold(mutex_);
  ledger_.keep(*b);
}

PINION_DECL std::int64_t memory::used() const {
  std::lock_guard hold(mutex_);
  return ledger_.used();
}

PINION_DECL std::int64_t memory::peak() const {
  std::lock_guard hold(mutex_);
  return ledger_.peak();
}

PINION_DECL void* memory::fresh_memory(std::size_t size) {
  card_->enter();
  void* data = nullptr;
  const auto take = [&] { return cudaMallocFromPoolAsync(&data, size, pool_.get(), order_->handle()); };
  cudaError_t how = take();
  if (how == cudaErrorMemoryAllocation && return_idle_blocks()) {
    cudaGetLastError();
    cudaStreamSynchronize(order_->handle());
    how = take();
  }
  if (how == cudaErrorMemoryAllocation) return cudaGetLastError(), nullptr;
  card_->expect(how, "cudaMallocFromPoolAsync");
  return data;
}

PINION_DECL bool memory::return_idle_blocks() {
  const std::vector<void*> idle = ledger_.drop_idle();
  for (void* const data : idle) give_back(data);
  return !idle.empty();
}

PINION_DECL void memory::give_back(void* data) noexcept {
  cudaFreeAsync(data, order_->handle());
}

PINION_DECL std::string memory::what_is_free() const {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total)) return cudaGetLastError(), "CUDA tells nothing of what is free";
  return std::to_string(free) + " of " + std::to_string(total) + " bytes are free";
}

PINION_DECL pinned_memory& pinned_memory::of_gpus() {
  struct shared_pinned {
    const std::shared_ptr<pinned_memory> memory = std::make_shared<pinned_memory>();
  };
  return *of_this_process<shared_pinned>().memory;
}

PINION_DECL buffer* pinned_memory::allocate(std::size_t bytes, std::string_view) {
  return take(bytes, std::numeric_limits<std::size_t>::max());
}

PINION_DECL buffer* pinned_memory::take(std::size_t bytes, std::size_t most) {
  const std::size_t size = detail::block_size(bytes);
  buffer* b = nullptr;
  {
    std::lock_guard hold(mutex_);
    if (used_bytes_ > most || size > most - used_bytes_) return nullptr;
    used_bytes_ += size;
    b = detail::take_idle(idle_, size);
    if (b) idle_bytes_ -= size;
  }
  try {
    if (!b) b = fresh(size);
  } catch (...) {
    std::lock_guard hold(mutex_);
    used_bytes_ -= size;
    throw;
  }
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL buffer* pinned_memory::fresh(std::size_t size) const {
  auto b = std::make_unique<buffer>(nullptr, size);
  const card::visit here(of_card_);
  void* data = nullptr;
  if (const cudaError_t failed = cudaHostAlloc(&data, size, cudaHostAllocPortable))
    throw error(errc::resource_exhausted, "no memory of the host for " + std::to_string(size) +
                                              " bytes that a GPU copies: " + cudaGetErrorString(failed));
  b->stand_for(data, size);
  return b.release();
}

PINION_DECL void pinned_memory::serve_tensors(const card& by) {
  of_card_ = by.facts().number;
  pinion::detail::set_page_locked_source([](std::size_t bytes) { return of_gpus().allocate_for_tensor(bytes); });
}

PINION_DECL buffer* pinned_memory::allocate_for_tensor(std::size_t bytes) noexcept {
  if (bytes > most_of_tensors || is_behind_fork()) return nullptr;
  try {
    return take(bytes, most_of_tensors);
  } catch (const std::exception&) {  // the tensor is made elsewhere
    return cudaGetLastError(), nullptr;
  }
}

PINION_DECL void pinned_memory::recycle(buffer* b) noexcept {
  const auto self = b->leave_home();
  std::lock_guard hold(mutex_);
  used_bytes_ -= b->capacity();
  if (idle_bytes_ + b->capacity() > most_idle) return free(b);
  idle_bytes_ += b->capacity();
  idle_.emplace(b->capacity(), b);
}

PINION_DECL void pinned_memory::trim() noexcept {
  std::lock_guard hold(mutex_);
  for (auto& [size, b] : idle_) free(b);
  idle_.clear();
  idle_bytes_ = 0;
}

PINION_DECL void pinned_memory::free(buffer* b) noexcept {
  const card::visit here(of_card_);
  cudaFreeHost(b->data());
  delete b;
}

}}}  // namespace pinion::v0::cuda
