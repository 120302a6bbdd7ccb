// The stand-in for CUDA: memory of devices, its pools, and pinned memory.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "machine.hpp"
#include "misuse.hpp"

using namespace fake_cuda;

namespace {

// True if this is the allocation that a test wants to fail. Requires: the machine's lock.
bool fails_by_order() {
  int& left = the_machine().allocations_until_failure;
  return left > 0 && --left == 0;
}

void reserve(CUmemPoolHandle_st& pool, std::size_t size) {
  pool.used += size;
  pool.reserved = std::max(pool.reserved, pool.used);
  pool.most_used = std::max(pool.most_used, pool.used);
  pool.most_reserved = std::max(pool.most_reserved, pool.reserved);
}

// A block on a device, or null where there is no room. Memory that a pool keeps is room for all. Requires: the
// machine's lock.
memory_block* add_block(int device, std::size_t size, CUmemPoolHandle_st* pool) {
  machine& m = the_machine();
  if (fails_by_order() || size > m.now.memory || m.memory.used(device) > m.now.memory - size) return nullptr;
  if (pool && pool->most > 0 && (size > pool->most || pool->used > pool->most - size)) return nullptr;
  if (pool) reserve(*pool, size);
  return &m.memory.add(size, device, pool);
}

// A stream has reached the allocation of a block.
void begin_block(void* at) {
  own_lock lock(the_machine().mutex);
  if (const memory_block* const block = the_machine().memory.beginning_at(at))
    poison_new(at, block->size);
  else
    report("memory was freed before the stream that allocated it had come there");
}

cudaError_t allocate_in_order(void** at, std::size_t size, CUmemPoolHandle_st& pool, CUstream_st& stream) {
  *at = nullptr;
  if (stream.captured_into) return misuse(cudaErrorNotSupported, "the stand-in captures no allocations");
  if (size == 0) return cudaSuccess;
  own_lock lock(the_machine().mutex);
  const memory_block* const block = add_block(pool.device, size, &pool);
  if (!block) return cudaErrorMemoryAllocation;
  *at = block->at;
  stream.push({[at = *at] { begin_block(at); }});
  return cudaSuccess;
}

// Takes a block out of use. Requires: the machine's lock.
void mark_freed(memory_block& block) {
  block.is_freed = true;
  if (block.pool) block.pool->used -= block.size;
}

// The block that a call may free; null, and a report, where there is none.
memory_block* block_to_free(void* at, bool is_pinned) {
  memory_block* const block = the_machine().memory.beginning_at(at);
  if (block && !block->is_freed && (block->device == memory_block::host) == is_pinned) return block;
  report("memory is freed that cannot be: " + describe(the_machine().memory.find(at), at));
  return nullptr;
}

std::vector<std::shared_ptr<CUstream_st>> all_streams(int device) {
  own_lock lock(the_machine().mutex);
  std::vector<std::shared_ptr<CUstream_st>> all;
  for (const auto& d : the_machine().devices)
    if (d->default_stream && (device == memory_block::host || d->id == device)) all.push_back(d->default_stream);
  for (const auto& [unused, stream] : the_machine().streams)
    if (device == memory_block::host || stream->on().id == device) all.push_back(stream);
  return all;
}

std::size_t kept_by_pools(int device) {
  std::size_t bytes = 0;
  for (const auto& [unused, pool] : the_machine().pools)
    if (pool->device == device) bytes += pool->reserved - pool->used;
  return bytes;
}

cudaError_t allocate_pinned(void** at, std::size_t size) {
  return on_device(current_device(), [&](device&) {
    *at = nullptr;
    if (const cudaError_t error = refused_by_capture()) return error;
    if (size == 0) return cudaSuccess;
    own_lock lock(the_machine().mutex);
    if (fails_by_order()) return cudaErrorMemoryAllocation;
    *at = the_machine().memory.add(size, memory_block::host).at;
    poison_new(*at, size);
    return cudaSuccess;
  });
}

// A pool that lives, or the default one of a device; null, and a report, if it is neither. Requires: the machine's
// lock.
CUmemPoolHandle_st* known(cudaMemPool_t pool) {
  machine& m = the_machine();
  if (m.pools.contains(pool)) return pool;
  for (const auto& d : m.devices)
    if (&d->own_pool == pool) return pool;
  report("a pool of memory is used that is destroyed, or never was");
  return nullptr;
}

template <class F>
cudaError_t on_pool(cudaMemPool_t handle, F f) {
  return on_device(current_device(), [&](device&) {
    own_lock lock(the_machine().mutex);
    CUmemPoolHandle_st* const pool = known(handle);
    return pool ? f(*pool) : cudaErrorInvalidValue;
  });
}

}  // namespace

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return on_device(current_device(), [&](device& d) {
    const machine& m = the_machine();
    own_lock lock(the_machine().mutex);
    *total = m.now.memory;
    const std::size_t taken = m.memory.used(d.id) + kept_by_pools(d.id);
    *free = *total - std::min(*total, taken);
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc(void** at, std::size_t size) {
  return on_device(current_device(), [&](device& d) {
    *at = nullptr;
    if (const cudaError_t error = refused_by_capture()) return error;
    if (size == 0) return cudaSuccess;
    own_lock lock(the_machine().mutex);
    const memory_block* const block = add_block(d.id, size, nullptr);
    if (!block) return cudaErrorMemoryAllocation;
    *at = block->at;
    poison_new(*at, size);
    return cudaSuccess;
  });
}

// As CUDA does, it waits for the device, except for memory of a pool, which must not be in use any more.
cudaError_t cudaFree(void* at) {
  return on_device(current_device(), [&](device&) {
    if (!at) return cudaSuccess;
    if (const cudaError_t error = refused_by_capture()) return error;
    int device = 0;
    bool is_of_pool = false;
    {
      own_lock lock(the_machine().mutex);
      memory_block* const block = block_to_free(at, false);
      if (!block) return cudaErrorInvalidValue;
      device = block->device, is_of_pool = block->pool != nullptr;
    }
    bool was_idle = true;
    for (const auto& stream : all_streams(device)) {
      was_idle = was_idle && stream->is_idle();
      stream->wait_for_all();
    }
    if (is_of_pool && !was_idle) report("cudaFree frees memory of a pool while streams of its device have work");
    own_lock lock(the_machine().mutex);
    memory_block* const block = the_machine().memory.beginning_at(at);
    mark_freed(*block);
    the_machine().memory.remove(*block);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** at, std::size_t size, cudaMemPool_t handle, cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) {
    CUmemPoolHandle_st* pool = nullptr;
    {
      own_lock lock(the_machine().mutex);
      pool = known(handle);
    }
    if (!pool || pool->device != stream.on().id) return cudaErrorInvalidValue;
    return allocate_in_order(at, size, *pool, stream);
  });
}

cudaError_t cudaMallocAsync(void** at, std::size_t size, cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) { return allocate_in_order(at, size, stream.on().own_pool, stream); });
}

cudaError_t cudaFreeAsync(void* at, cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) {
    if (stream.captured_into) return misuse(cudaErrorNotSupported, "the stand-in captures no allocations");
    own_lock lock(the_machine().mutex);
    memory_block* const block = block_to_free(at, false);
    if (!block) return cudaErrorInvalidValue;
    mark_freed(*block);
    stream.push({[at] {
      own_lock inner(the_machine().mutex);
      the_machine().memory.remove(*the_machine().memory.beginning_at(at));
    }});
    return cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void** at, std::size_t size, unsigned) {
  return allocate_pinned(at, size);
}

cudaError_t cudaMallocHost(void** at, std::size_t size) {
  return allocate_pinned(at, size);
}

cudaError_t cudaFreeHost(void* at) {
  return on_device(current_device(), [&](device&) {
    if (!at) return cudaSuccess;
    if (const cudaError_t error = refused_by_capture()) return error;
    own_lock lock(the_machine().mutex);
    memory_block* const block = block_to_free(at, true);
    if (!block) return cudaErrorInvalidValue;
    if (block->copies == 0) {
      the_machine().memory.remove(*block);
      return cudaSuccess;
    }
    report("pinned memory is freed that copies in streams still use");
    lock.unlock();
    for (const auto& stream : all_streams(memory_block::host)) stream->wait_for_all();
    lock.lock();
    the_machine().memory.remove(*block);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return on_device(current_device(), [&](device&) {
    machine& m = the_machine();
    const cudaMemLocation& location = properties->location;
    if (properties->allocType != cudaMemAllocationTypePinned || location.type != cudaMemLocationTypeDevice ||
        location.id < 0 || location.id >= m.now.devices)
      return cudaErrorInvalidValue;
    auto made = std::make_unique<CUmemPoolHandle_st>(location.id, properties->maxSize);
    own_lock lock(m.mutex);
    *pool = made.get();
    m.pools.emplace(*pool, std::move(made));
    return cudaSuccess;
  });
}

// Blocks that live keep no trace of their pool.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return on_pool(handle, [&](CUmemPoolHandle_st& pool) {
    the_machine().memory.leave(pool);
    return the_machine().pools.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr which, void* value) {
  return on_pool(handle, [&](CUmemPoolHandle_st& pool) {
    const auto number = [&] { return static_cast<std::size_t>(*static_cast<const std::uint64_t*>(value)); };
    switch (which) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies: return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold: pool.threshold = number(); return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
        if (number() != 0) return cudaErrorInvalidValue;
        pool.most_reserved = pool.reserved;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        if (number() != 0) return cudaErrorInvalidValue;
        pool.most_used = pool.used;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr which, void* value) {
  return on_pool(handle, [&](const CUmemPoolHandle_st& pool) {
    const auto give = [&](std::size_t bytes) {
      *static_cast<std::uint64_t*>(value) = bytes;
      return cudaSuccess;
    };
    switch (which) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies: *static_cast<int*>(value) = 1; return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold: return give(pool.threshold);
      case cudaMemPoolAttrReservedMemCurrent: return give(pool.reserved);
      case cudaMemPoolAttrReservedMemHigh: return give(pool.most_reserved);
      case cudaMemPoolAttrUsedMemCurrent: return give(pool.used);
      case cudaMemPoolAttrUsedMemHigh: return give(pool.most_used);
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t kept) {
  return on_pool(handle, [&](CUmemPoolHandle_st& pool) {
    pool.reserved = std::max(pool.used, std::min(kept, pool.reserved));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* who, std::size_t count) {
  return on_pool(handle, [&](CUmemPoolHandle_st& pool) {
    for (std::size_t k = 0; k < count; ++k) {
      const int peer = who[k].location.id;
      if (peer < 0 || peer >= the_machine().now.devices) return cudaErrorInvalidValue;
      if (peer != pool.device && !the_machine().now.has_peer_access) return cudaErrorInvalidDevice;
      if (who[k].flags == cudaMemAccessFlagsProtNone) {
        if (peer == pool.device) return cudaErrorInvalidValue;
        pool.peers.erase(peer);
      } else {
        pool.peers.insert(peer);
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int id) {
  return on_device(id, [&](device& d) {
    *pool = &d.own_pool;
    return cudaSuccess;
  });
}
