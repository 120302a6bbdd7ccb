// The stand-in for CUDA: memory, its limits, and what may be done with an address.
#include <catch2/catch.hpp>

#include <cstdint>

#include <pinion/op/source/cuda_kernels.hpp>

#include "fake_cuda/fresh_cuda.hpp"

using namespace fake_cuda_tests;

namespace {

fake_cuda::settings with_memory(std::size_t bytes, int devices = 1) {
  fake_cuda::settings now;
  now.memory = bytes, now.devices = devices;
  return now;
}

cudaMemPool_t new_pool(std::size_t most = 0) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = most;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolCreate(&pool, &properties);
  return pool;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  cudaMemPoolGetAttribute(pool, which, &value);
  return value;
}

}  // namespace

TEST_CASE_METHOD(fresh_cuda, "new memory holds nothing that could be meant", "[stand-in]") {
  const auto* const words = new_elements<std::uint32_t>(2);
  CHECK(elements(words, 2) == std::vector<std::uint32_t>(2, 0xA5A5A5A5));
}

#ifndef __SANITIZE_THREAD__  // it would see, in these two, what they show
TEST_CASE_METHOD(fresh_cuda, "memory that a stream allocates is there when the stream comes to it", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  door before(stream);
  void* memory = nullptr;
  cudaMallocAsync(&memory, 4, stream);
  const cudaStream_t other = new_stream();
  pinion::cuda::fill(other, static_cast<int*>(memory), 1, 7);  // nobody said that it is there already
  cudaStreamSynchronize(other);
  before.open();
  cudaStreamSynchronize(stream);
  CHECK(elements(static_cast<int*>(memory), 1)[0] == static_cast<int>(0xA5A5A5A5));
}

TEST_CASE_METHOD(fresh_cuda, "pinned memory is read when the stream comes to it, and other memory at the call") {
  const cudaStream_t stream = new_stream();
  int *pinned = nullptr, pageable = 1;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), sizeof(int));
  int* const memory = new_elements<int>(2);
  *pinned = 1;
  cudaMemcpyAsync(memory + 1, &pageable, sizeof(int), cudaMemcpyHostToDevice, stream);  // may wait for the stream
  door before(stream);
  cudaMemcpyAsync(memory, pinned, sizeof(int), cudaMemcpyHostToDevice, stream);
  *pinned = pageable = 2;  // the first is too early
  before.open();
  cudaStreamSynchronize(stream);
  CHECK(elements(memory, 2) == std::vector<int>{2, 1});
}
#endif

TEST_CASE("a device has as much memory as it has, and says how much is free", "[stand-in]") {
  const fresh_cuda machine(with_memory(1000));
  void *some = nullptr, *more = nullptr;
  CHECK(cudaMalloc(&some, 600) == cudaSuccess);
  CHECK(cudaMalloc(&more, 401) == cudaErrorMemoryAllocation);
  CHECK(more == nullptr);
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  CHECK(free == 400);
  CHECK(total == 1000);
  cudaFree(some);
  CHECK(cudaMalloc(&more, 1000) == cudaSuccess);
}

TEST_CASE("a pool keeps memory up to its threshold, tells its high water, and has a cap", "[stand-in]") {
  const fresh_cuda machine(with_memory(1000));
  const cudaStream_t stream = new_stream();
  const cudaMemPool_t pool = new_pool(500);
  std::uint64_t threshold = 200;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  void *some = nullptr, *more = nullptr;
  CHECK(cudaMallocFromPoolAsync(&more, 501, pool, stream) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocFromPoolAsync(&some, 300, pool, stream) == cudaSuccess);
  CHECK(cudaMallocFromPoolAsync(&more, 201, pool, stream) == cudaErrorMemoryAllocation);
  cudaFreeAsync(some, stream);
  CHECK(cudaMallocFromPoolAsync(&some, 500, pool, stream) == cudaSuccess);  // in the order of the stream it is free
  cudaFreeAsync(some, stream);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 500);
  cudaStreamSynchronize(stream);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 200);
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 500);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE_METHOD(fresh_cuda, "an allocation fails where a test wants it to", "[stand-in]") {
  fake_cuda::fail_allocation(2);
  CHECK(new_elements<int>(1) != nullptr);
  CHECK(new_elements<int>(1) == nullptr);
  CHECK(new_elements<int>(1) != nullptr);
}

TEST_CASE_METHOD(fresh_cuda, "a copy or fill stays within its blocks", "[stand-in]") {
  char* const memory = new_elements<char>(10);
  char here[20] = {};
  CHECK(cudaMemcpy(memory + 5, here, 6, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(here, memory, 11, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemset(memory + 9, 0, 2) == cudaErrorInvalidValue);
  CHECK(cudaMemset(here, 0, 2) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(memory, here, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(
      fake_cuda::take_misuses() ==
      sentences{"a copy or fill of 6 bytes names byte 5 of a block of 10 bytes on device 0",
                "a copy or fill of 11 bytes names byte 0 of a block of 10 bytes on device 0",
                "a copy or fill of 2 bytes names byte 9 of a block of 10 bytes on device 0",
                "a fill names an address that is no memory of CUDA",
                "a copy whose kind says otherwise goes from an address that is no memory of CUDA to byte 0 of a block "
                "of 10 bytes on device 0"});
}

TEST_CASE_METHOD(fresh_cuda, "memory is freed once, by its beginning, and then no more used", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  int* const memory = new_elements<int>(2);
  door before(stream);
  CHECK(cudaFreeAsync(memory + 1, stream) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(memory, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(memory, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemsetAsync(memory, 0, 4, stream) == cudaErrorInvalidValue);
  CHECK(fake_cuda::take_misuses() ==
        sentences{"memory is freed that cannot be: byte 4 of a block of 8 bytes on device 0",
                  "memory is freed that cannot be: byte 0 of a block of 8 bytes on device 0, which was freed",
                  "a copy or fill of 4 bytes names byte 0 of a block of 8 bytes on device 0, which was freed"});
}

TEST_CASE_METHOD(fresh_cuda, "pinned memory is not freed while a copy stands in a stream", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  void* pinned = nullptr;
  cudaHostAlloc(&pinned, 4, cudaHostAllocDefault);
  {
    door before(stream);
    cudaMemcpyAsync(new_elements<int>(1), pinned, 4, cudaMemcpyHostToDevice, stream);
    before.open();
  }
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFreeHost(pinned) == cudaErrorInvalidValue);
  CHECK(fake_cuda::take_misuses() == sentences{"memory is freed that cannot be: an address that is no memory of CUDA"});
}

TEST_CASE_METHOD(fresh_cuda, "cudaFree waits for the device, which memory of a pool must not need") {
  const cudaStream_t stream = new_stream();
  void* of_pool = nullptr;
  cudaMallocAsync(&of_pool, 4, stream);
  int* const plain = new_elements<int>(1);
  for (int k = 0; k < 100; ++k) pinion::cuda::fill(stream, plain, 1, k);
  CHECK(cudaFree(plain) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaFree(of_pool) == cudaSuccess);
  CHECK(fake_cuda::take_misuses() == sentences{});
}

TEST_CASE("devices copy to each other, and kernels see a peer's memory when it was made accessible", "[stand-in]") {
  const fresh_cuda machine(with_memory(1 << 20, 2));
  int* const there = new_elements<int>(1);
  cudaSetDevice(1);
  int* const here = new_elements<int>(1);
  const cudaStream_t stream = new_stream();
  pinion::cuda::fill(stream, here, 1, 5);
  CHECK(cudaMemcpyPeerAsync(there, 0, here, 1, 4, stream) == cudaSuccess);
  cudaStreamSynchronize(stream);
  CHECK(elements(there, 1)[0] == 5);
  CHECK(fake_cuda::count().staged_copies == 1);
  CHECK_THROWS(pinion::cuda::fill(stream, there, 1, 6));
  CHECK(fake_cuda::take_misuses() == sentences{"a kernel on device 1, which has no access to it, is given byte 0 of a "
                                               "block of 4 bytes on device 0"});
  int can = 0;
  CHECK(cudaDeviceCanAccessPeer(&can, 1, 0) == cudaSuccess);
  CHECK(can == 1);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
  pinion::cuda::fill(stream, there, 1, 6);
  CHECK(cudaMemcpyPeerAsync(there, 0, here, 1, 4, stream) == cudaSuccess);
  CHECK(fake_cuda::count().staged_copies == 1);
  CHECK(cudaMemcpyPeerAsync(there, 1, here, 0, 4, stream) == cudaErrorInvalidValue);
  CHECK(fake_cuda::take_misuses() == sentences{"a copy between devices names memory that is on others"});
}

TEST_CASE_METHOD(fresh_cuda, "a kernel is given no memory but that of CUDA which was not freed", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  int on_stack = 0;
  CHECK_THROWS(pinion::cuda::fill(stream, &on_stack, 1, 0));
  int* const memory = new_elements<int>(4);
  door before(stream);
  cudaFreeAsync(memory, stream);
  CHECK_THROWS(pinion::cuda::fill(stream, memory + 1, 1, 0));
  CHECK(fake_cuda::take_misuses() ==
        sentences{"a kernel is given an address that is no memory of CUDA",
                  "a kernel is given byte 4 of a block of 16 bytes on device 0, which was freed"});
}
