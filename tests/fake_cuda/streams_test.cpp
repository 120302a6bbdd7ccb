// The stand-in for CUDA: streams, events, and what orders them.
#include <catch2/catch.hpp>

#include <cstdint>

#include <pinion/op/source/cuda_kernels.hpp>

#include "fake_cuda/fresh_cuda.hpp"

using namespace fake_cuda_tests;

namespace {

// A word that a kernel has filled: CUDA loads one at its first launch, and may then wait for all streams, those with a
// closed door among them.
int* new_word() {
  int* const word = new_elements<int>(1);
  pinion::cuda::fill(nullptr, word, 1, 0);
  cudaDeviceSynchronize();
  return word;
}

}  // namespace

TEST_CASE_METHOD(fresh_cuda, "a kernel of pinion fills memory of a device in the order of its stream") {
  const cudaStream_t stream = new_stream();
  void* memory = nullptr;
  std::vector<float> back(1000);
  REQUIRE(cudaMallocAsync(&memory, 4000, stream) == cudaSuccess);
  pinion::cuda::fill(stream, static_cast<float*>(memory), 1000, 3.f);
  REQUIRE(cudaMemcpyAsync(back.data(), memory, 4000, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(back == std::vector<float>(1000, 3.f));
  CHECK(cudaFreeAsync(memory, stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(fake_cuda::take_misuses() == sentences{});
  CHECK(fake_cuda::count().device_blocks == 0);
}

TEST_CASE_METHOD(fresh_cuda, "a stream that waits for an event comes after what stood before its record") {
  const cudaStream_t first = new_stream(), second = new_stream();
  int *const word = new_word(), *pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), sizeof(int));
  const cudaEvent_t filled = new_event();
  door before(first);
  pinion::cuda::fill(first, word, 1, 7);
  cudaEventRecord(filled, first);
  cudaStreamWaitEvent(second, filled, 0);
  cudaMemcpyAsync(pinned, word, sizeof(int), cudaMemcpyDeviceToHost, second);
  CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
  CHECK(cudaEventQuery(filled) == cudaErrorNotReady);
  before.open();
  cudaStreamSynchronize(second);
  CHECK(*pinned == 7);
  CHECK(cudaEventQuery(filled) == cudaSuccess);
}

TEST_CASE_METHOD(fresh_cuda, "a stream that does not wait overtakes another one") {
  const cudaStream_t first = new_stream(), second = new_stream();
  int* const word = new_word();
  door before(first);
  cudaLaunchHostFunc(
      first, [](void*) {}, nullptr);
  pinion::cuda::fill(second, word, 1, 1);
  cudaStreamSynchronize(second);
  CHECK(elements(word, 1)[0] == 1);
}

TEST_CASE_METHOD(fresh_cuda,
                 "an event stands for its latest record when somebody waits, and for none before the first") {
  const cudaStream_t first = new_stream(), second = new_stream();
  const cudaEvent_t event = new_event();
  CHECK(cudaEventQuery(event) == cudaSuccess);
  cudaStreamWaitEvent(second, event, 0);
  door before(first);
  cudaEventRecord(event, first);
  CHECK(cudaStreamSynchronize(second) == cudaSuccess);  // it waited before the record was announced
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  before.open();
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
}

TEST_CASE_METHOD(fresh_cuda, "events with a clock tell the time between them, and others do not") {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t start = new_event(cudaEventDefault), end = new_event(cudaEventDefault), plain = new_event();
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {start, end, plain}) cudaEventRecord(event, stream);
  cudaStreamSynchronize(stream);
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess);
  CHECK(milliseconds >= 0);
  CHECK(cudaEventElapsedTime(&milliseconds, start, plain) == cudaErrorInvalidResourceHandle);
}

TEST_CASE_METHOD(fresh_cuda, "a host function may not call CUDA", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  cudaError_t error = cudaSuccess;
  cudaLaunchHostFunc(
      stream,
      [](void* to) {
        void* memory = nullptr;
        *static_cast<cudaError_t*>(to) = cudaMalloc(&memory, 4);
      },
      &error);
  cudaStreamSynchronize(stream);
  CHECK(error == cudaErrorNotPermitted);
  CHECK(fake_cuda::take_misuses() == sentences{"a host function in a stream calls CUDA"});
}

TEST_CASE_METHOD(fresh_cuda, "streams and events that are destroyed are known no more", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t event = new_event();
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
  CHECK(fake_cuda::take_misuses() == sentences{"a stream is used that is destroyed, or never was",
                                               "a stream is destroyed that is destroyed already, or never was",
                                               "an event is used that is destroyed, or never was",
                                               "an event is destroyed that is destroyed already, or never was"});
}

TEST_CASE("an event and a stream are of one device", "[stand-in]") {
  fake_cuda::settings two;
  two.devices = 2;
  const fresh_cuda machine(two);
  const cudaEvent_t event = new_event();
  cudaSetDevice(1);
  CHECK(cudaEventRecord(event, new_stream()) == cudaErrorInvalidResourceHandle);
  CHECK(fake_cuda::take_misuses() == sentences{"an event of device 0 is recorded on a stream of device 1"});
}
