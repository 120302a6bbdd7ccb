// The stand-in for NVRTC: texts of kernels become libraries that the stand-in for CUDA opens.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdlib>
#include <stdexcept>

#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/scalar/cuda_text.hpp>

#include "cuda/every_program.hpp"
#include "fake_cuda/fresh_cuda.hpp"

using namespace pinion;
using namespace fake_cuda_tests;

namespace {

template <class F>
F* symbol(const char* name) {
  static const std::string path = PINION_TEST_FAKE_CUDA_LIBS "/libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);
  static void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<F*>(dlsym(library, name));
}
#define NVRTC(name) symbol<decltype(::name)>(#name)

struct compiled {
  nvrtcResult result;
  std::string log, code;
};

compiled compile(const std::string& text) {
  nvrtcProgram program = nullptr;
  NVRTC(nvrtcCreateProgram)(&program, text.c_str(), "unit.cu", 0, nullptr, nullptr);
  const char* const options[] = {"-arch=sm_90", "-std=c++17"};
  compiled all{NVRTC(nvrtcCompileProgram)(program, 2, options), {}, {}};
  std::size_t size = 0;
  NVRTC(nvrtcGetProgramLogSize)(program, &size);
  all.log.resize(size);
  NVRTC(nvrtcGetProgramLog)(program, all.log.data());
  if (NVRTC(nvrtcGetCUBINSize)(program, &size) == NVRTC_SUCCESS) {
    all.code.resize(size);
    NVRTC(nvrtcGetCUBIN)(program, all.code.data());
  }
  NVRTC(nvrtcDestroyProgram)(&program);
  return all;
}

cudaError_t launch(cudaKernel_t kernel, void* argument, unsigned blocks, unsigned threads) {
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(blocks), how.blockDim = dim3(threads);
  return cudaLaunchKernelExC(&how, kernel, &argument);
}

}  // namespace

TEST_CASE_METHOD(fresh_cuda, "the text of a map, compiled, computes it on a device") {
  const scalar::program add = scalar::executable(*laws::map_program("Add", dtype::float32));
  const shape matrix{5, 8}, row{8};
  const broadcast_walk walk(matrix, {matrix, row, matrix});
  float *const x = new_elements<float>(40), *const bias = new_elements<float>(8), *const y = new_elements<float>(40);
  const std::vector<float> ones(40, 1.f), numbers{0, 1, 2, 3, 4, 5, 6, 7};
  cudaMemcpy(x, ones.data(), 160, cudaMemcpyHostToDevice);
  cudaMemcpy(bias, numbers.data(), 32, cudaMemcpyHostToDevice);
  const std::vector<const void*> addresses{x, bias, y};
  const op::cuda_form form = op::cuda_form_of(add, walk, addresses);
  const compiled unit = compile(std::string(scalar::cuda_prelude()) + op::cuda_map_text(add, form, "map0"));
  INFO(unit.log);
  REQUIRE(unit.result == NVRTC_SUCCESS);

  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  REQUIRE(cudaLibraryLoadData(&library, unit.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess);
  REQUIRE(cudaLibraryGetKernel(&kernel, library, "map0") == cudaSuccess);
  CHECK(cudaLibraryGetKernel(&kernel, library, "map1") == cudaErrorSymbolNotFound);
  cudaLibraryGetKernel(&kernel, library, "map0");
  op::cuda_launch how = op::cuda_map_launch(add, walk, form, addresses);
  CHECK(launch(kernel, how.argument.data(), how.blocks, op::cuda_launch::threads) == cudaSuccess);
  const std::vector<float> sums = elements(y, 40);
  for (std::size_t k = 0; k < 40; ++k) CHECK(sums[k] == 1.f + static_cast<float>(k % 8));
  CHECK(cudaLibraryUnload(library) == cudaSuccess);
  CHECK(launch(kernel, how.argument.data(), 1, 1) == cudaErrorInvalidDeviceFunction);
  CHECK(fake_cuda::take_misuses() == sentences{"a kernel is launched that no library gave"});
}

TEST_CASE_METHOD(fresh_cuda, "blocks of a compiled text have barriers and shared memory") {
  const compiled unit = compile(R"(namespace pinion { namespace turned {
struct argument { int* at; };
extern "C" __global__ void turned(const __grid_constant__ argument a) {
  __shared__ int values[64];
  values[threadIdx.x] = a.at[threadIdx.x];
  __syncthreads();
  a.at[threadIdx.x] = values[63 - threadIdx.x];
}
}})");
  REQUIRE(unit.result == NVRTC_SUCCESS);
  int* at = new_elements<int>(64);
  cudaMemset(at, 0, 256);
  cudaMemset(at, 1, 4);
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  REQUIRE(cudaLibraryLoadData(&library, unit.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess);
  REQUIRE(cudaLibraryGetKernel(&kernel, library, "turned") == cudaSuccess);
  CHECK(launch(kernel, &at, 1, 64) == cudaSuccess);
  CHECK(elements(at, 64)[63] == 0x01010101);
  CHECK(elements(at, 64)[0] == 0);
}

TEST_CASE("a text that is no C++, or that a test refuses, is refused with a line") {
  const compiled bad = compile("none of this is C");
  CHECK(bad.result == NVRTC_ERROR_COMPILATION);
  CHECK_THAT(bad.log, Catch::Contains("unit.cu:1:1: error:"));
  setenv("PINION_FAKE_NVRTC_REFUSES", "int two", 1);
  CHECK(compile("int one;").result == NVRTC_SUCCESS);
  const compiled refused = compile("int two;");
  CHECK(refused.result == NVRTC_ERROR_COMPILATION);
  CHECK_THAT(refused.log, Catch::Contains("unit.cu(1): error:"));
  unsetenv("PINION_FAKE_NVRTC_REFUSES");
}

TEST_CASE_METHOD(fresh_cuda, "what is no library is not loaded") {
  const std::string text(100, 'x');
  cudaLibrary_t library = nullptr;
  CHECK(cudaLibraryLoadData(&library, text.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
        cudaErrorInvalidKernelImage);
}
