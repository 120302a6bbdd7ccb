// The stand-in for CUDA: streams that are captured, and graphs that are launched.
#include <catch2/catch.hpp>

#include <pinion/op/source/cuda_kernels.hpp>

#include "fake_cuda/fresh_cuda.hpp"
#if !PINION_TEST_REAL_CUDA
#include "support/fake_cuda/words.hpp"
#endif

using namespace fake_cuda_tests;

namespace {

__global__ void count_up(int* word) {
  ++*word;
}

void count_up_on(cudaStream_t stream, int* word) {
  cudaLaunchConfig_t how{};
  how.gridDim = how.blockDim = dim3(1), how.stream = stream;
  cudaLaunchKernelEx(&how, count_up, word);
}

// The kernel has run when it is there: CUDA loads one at its first launch, which belongs in no capture.
int* new_count() {
  int* const word = new_elements<int>(1);
  count_up_on(nullptr, word);
  cudaMemset(word, 0, sizeof(int));
  cudaDeviceSynchronize();
  return word;
}

}  // namespace

TEST_CASE_METHOD(fresh_cuda, "what a stream is given while it is captured runs at each launch, and not before") {
  const cudaStream_t stream = new_stream();
  int* const word = new_count();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  count_up_on(stream, word);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(elements(word, 1)[0] == 0);
  CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  for (int k = 0; k < 3; ++k) CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
  cudaStreamSynchronize(stream);
  CHECK(elements(word, 1)[0] == 3);
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(fake_cuda::count().graphs == 0);
}

TEST_CASE_METHOD(fresh_cuda, "a stream joins a capture by an event, and the first one waits for it before the end") {
  const cudaStream_t first = new_stream(), second = new_stream();
  const cudaEvent_t forked = new_event(), joined = new_event();
  int* const word = new_count();
  cudaGraph_t graph = nullptr;
  const bool waits = GENERATE(true, false);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(forked, first);
  CHECK(cudaStreamWaitEvent(second, forked, 0) == cudaSuccess);
  count_up_on(second, word);
  cudaEventRecord(joined, second);
  if (waits) CHECK(cudaStreamWaitEvent(first, joined, 0) == cudaSuccess);
  CHECK(cudaStreamEndCapture(first, &graph) == (waits ? cudaSuccess : cudaErrorStreamCaptureUnjoined));
  CHECK((graph != nullptr) == waits);
  count_up_on(second, word);  // it is captured no more
  cudaStreamSynchronize(second);
  CHECK(elements(word, 1)[0] == 1);
  CHECK((fake_cuda::take_misuses().empty() || !waits));
}

TEST_CASE_METHOD(fresh_cuda, "who waits during a capture, or allocates, spoils it", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  CHECK(new_elements<int>(1) == nullptr);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  CHECK(fake_cuda::take_misuses() == sentences{"somebody waits for a stream that is captured",
                                               "a call is made that no stream allows while it is captured"});
}

TEST_CASE_METHOD(fresh_cuda, "a capture takes copies of pinned memory") {
  const cudaStream_t stream = new_stream();
  int *const word = new_count(), *pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), sizeof(int));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  count_up_on(stream, word);
  CHECK(cudaMemcpyAsync(pinned, word, 4, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  CHECK(*pinned == 2);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(fake_cuda::take_misuses() == sentences{});
}

// NVIDIA's runtime takes them, and each launch reads or writes what is then at the address.
TEST_CASE_METHOD(fresh_cuda, "copies of memory that is not pinned spoil a capture", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  int *const word = new_count(), pageable = 0;
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  CHECK(cudaMemcpyAsync(&pageable, word, 4, cudaMemcpyDeviceToHost, stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
}

TEST_CASE_METHOD(fresh_cuda, "a graph is launched while it has its memory", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  int* const word = new_count();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  count_up_on(stream, word);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
  door before(stream);
  cudaFreeAsync(word, stream);
  CHECK(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue);
  CHECK(fake_cuda::take_misuses() ==
        sentences{"a graph is launched that uses byte 0 of a block of 4 bytes on device 0, which was freed"});
}

TEST_CASE_METHOD(fresh_cuda, "a graph whose kernel faults loses the device", "[stand-in]") {
  const cudaStream_t stream = new_stream();
  int* const word = new_count();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  count_up_on(stream, word);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  fake_cuda::fault_next_launch(0, cudaErrorIllegalAddress);
  cudaGraphLaunch(exec, stream);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
}
