// The stand-in for CUDA: drivers that are missing or old, and devices that are lost.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/op/source/cuda_kernels.hpp>

#include "fake_cuda/fresh_cuda.hpp"

using namespace fake_cuda_tests;

namespace {

fake_cuda::settings with_driver(fake_cuda::driver is) {
  fake_cuda::settings now;
  now.is = is;
  return now;
}

}  // namespace

TEST_CASE("without a driver, with an old one and without devices, calls say so") {
  int count = -1, version = -1;
  {
    const fresh_cuda machine(with_driver(fake_cuda::driver::missing));
    CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
    CHECK(count == 0);
    CHECK(cudaDriverGetVersion(&version) == cudaSuccess);
    CHECK(version == 0);
  }
  {
    const fresh_cuda machine(with_driver(fake_cuda::driver::old));
    CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
    CHECK(cudaDriverGetVersion(&version) == cudaSuccess);
    CHECK(version > 0);
    CHECK(version < CUDART_VERSION);
  }
  const fresh_cuda machine(with_driver(fake_cuda::driver::without_devices));
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(cudaSetDevice(0) == cudaErrorNoDevice);
}

TEST_CASE("the last error is told once") {
  const fresh_cuda machine;
  CHECK(cudaSetDevice(3) == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
}

TEST_CASE("a fault of a kernel stays: nothing behind it runs, and each call on the device tells it") {
  fake_cuda::settings two;
  two.devices = 2;
  const fresh_cuda machine(two);
  const cudaStream_t stream = new_stream(), other = new_stream();
  const cudaEvent_t event = new_event();
  int* const word = new_elements<int>(1);
  bool is_called = false;
  fake_cuda::fault_next_launch(0, cudaErrorIllegalAddress);
  pinion::cuda::fill(stream, word, 1, 1);
  cudaLaunchHostFunc(
      stream, [](void* is) { *static_cast<bool*>(is) = true; }, &is_called);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(other, event, 0);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(cudaStreamSynchronize(other) == cudaErrorIllegalAddress);
  CHECK(cudaEventQuery(event) == cudaErrorIllegalAddress);
  CHECK(cudaFree(word) == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(!is_called);
  cudaSetDevice(1);
  CHECK(new_elements<int>(1) != nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a reset begins anew, also behind a fault") {
  const fresh_cuda machine;
  int* const word = new_elements<int>(1);
  fake_cuda::fault_next_launch(0, cudaErrorECCUncorrectable);
  pinion::cuda::fill(nullptr, word, 1, 1);
  CHECK(cudaDeviceSynchronize() == cudaErrorECCUncorrectable);
  fake_cuda::reset();
  CHECK(fake_cuda::count().device_blocks == 0);
  CHECK(elements(new_elements<int>(1), 1).size() == 1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
