// The stand-in for CUDA: copies and fills.
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "misuse.hpp"

using namespace fake_cuda;

namespace {

// One end of a copy. What is in no block is pageable memory of the host.
struct end_of_copy {
  memory_block* block = nullptr;

  bool is_on_device() const { return block && block->device != memory_block::host; }
  bool is_pageable() const { return !block; }
  bool is_pinned() const { return block && block->device == memory_block::host; }
};

// Finds the end of a copy; reports what hinders it. Requires: the machine's lock.
bool find_end(const void* at, std::size_t size, end_of_copy& end) {
  end.block = the_machine().memory.find(at);
  if (!end.block) return true;
  const auto before = static_cast<std::size_t>(static_cast<const std::byte*>(at) - end.block->at);
  if (before == end.block->size) end.block = nullptr;  // it stands behind the block
  if (!end.block) return true;
  if (!end.block->is_freed && before + size <= end.block->size) return true;
  report("a copy or fill of " + std::to_string(size) + " bytes names " + describe(end.block, at));
  return false;
}

bool is_of_kind(cudaMemcpyKind kind, const end_of_copy& to, const end_of_copy& from) {
  if (kind == cudaMemcpyDefault) return true;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return to_device == to.is_on_device() && from_device == from.is_on_device();
}

// True for a copy between devices that one of them does by itself, since it has access to the other's memory.
bool is_direct(const end_of_copy& to, const end_of_copy& from) {
  const auto reaches = [](const end_of_copy& mine, const end_of_copy& other) {
    return is_reachable(*other.block, *the_machine().devices[static_cast<std::size_t>(mine.block->device)]);
  };
  return reaches(to, from) || reaches(from, to);
}

// Counts a copy that stands in a stream, for pinned memory, which may not be freed before.
void count_copy(const end_of_copy& end, CUstream_st& stream) {
  if (!end.is_pinned() || stream.captured_into) return;
  ++end.block->copies;
  stream.push({[block = end.block] {
                 own_lock lock(the_machine().mutex);
                 --block->copies;
               },
               true});
}

// Copies when the stream gets there; from pageable memory, what is there now, and to it, before the call returns.
cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind, CUstream_st& stream) {
  if (size == 0) return cudaSuccess;
  own_lock lock(the_machine().mutex);
  end_of_copy target, source;
  if (!find_end(to, size, target) || !find_end(from, size, source)) return cudaErrorInvalidValue;
  if (!is_of_kind(kind, target, source))
    return misuse(cudaErrorInvalidValue, "a copy whose kind says otherwise goes from " + describe(source.block, from) +
                                             " to " + describe(target.block, to));
  if (stream.captured_into && (target.is_pageable() || source.is_pageable())) return refused_by_capture(stream);
  std::shared_ptr<std::vector<std::byte>> staged;
  if (source.is_pageable()) {
    const auto* const first = static_cast<const std::byte*>(from);
    staged = std::make_shared<std::vector<std::byte>>(first, first + size);
  }
  ++the_machine().since_reset.copies;
  the_machine().since_reset.staged_copies +=
      target.is_on_device() && source.is_on_device() && !is_direct(target, source);
  note_address(stream, to), note_address(stream, from);
  const std::uint64_t number =
      stream.push({[=, staged = std::move(staged)] { std::memcpy(to, staged ? staged->data() : from, size); }});
  count_copy(target, stream), count_copy(source, stream);
  lock.unlock();
  if (target.is_pageable()) {
    stream.wait(number);
    return stream.on().fault;
  }
  return cudaSuccess;
}

cudaError_t fill(void* to, int value, std::size_t size, CUstream_st& stream) {
  if (size == 0) return cudaSuccess;
  own_lock lock(the_machine().mutex);
  end_of_copy target;
  if (!find_end(to, size, target)) return cudaErrorInvalidValue;
  if (!target.is_on_device()) return misuse(cudaErrorInvalidValue, "a fill names " + describe(target.block, to));
  note_address(stream, to);
  stream.push({[=] { std::memset(to, value, size); }});
  return cudaSuccess;
}

bool is_of_device(const void* at, int device) {
  own_lock lock(the_machine().mutex);
  const memory_block* const block = the_machine().memory.find(at);
  return block && block->device == device;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) { return copy(to, from, size, kind, stream); });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t size,
                                cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) {
    if (size == 0) return cudaSuccess;
    if (!is_of_device(to, to_device) || !is_of_device(from, from_device))
      return misuse(cudaErrorInvalidValue, "a copy between devices names memory that is on others");
    return copy(to, from, size, cudaMemcpyDeviceToDevice, stream);
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  return on_stream(nullptr, [&](CUstream_st& stream) {
    if (const cudaError_t error = refused_by_capture()) return error;
    const cudaError_t error = copy(to, from, size, kind, stream);
    stream.wait_for_all();
    return error != cudaSuccess ? error : stream.on().fault.load();
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) { return fill(to, value, size, stream); });
}

cudaError_t cudaMemset(void* to, int value, std::size_t size) {
  return on_stream(nullptr, [&](CUstream_st& stream) { return fill(to, value, size, stream); });
}
