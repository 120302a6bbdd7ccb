// The stand-in for CUDA: blocks of kernels, and their barriers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "fake_cuda/fresh_cuda.hpp"
#if !PINION_TEST_REAL_CUDA
#include "support/fake_cuda/words.hpp"
#endif

using namespace fake_cuda_tests;

namespace {

fake_cuda::settings in_order(fake_cuda::thread_order order) {
  fake_cuda::settings now;
  now.order = order;
  return now;
}

template <class... Parameters, class... Arguments>
cudaError_t run(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, Arguments... arguments) {
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(blocks), how.blockDim = dim3(threads);
  const cudaError_t error = cudaLaunchKernelEx(&how, kernel, arguments...);
  cudaDeviceSynchronize();
  return error;
}

__global__ void sums_of_blocks(const int* from, int* to) {
  __shared__ int sums[32];
  int sum = from[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}

__global__ void neighbours(int* to, bool is_ordered) {
  __shared__ int values[64];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (is_ordered) __syncthreads();
  to[threadIdx.x] = values[(threadIdx.x + 1) % 64];
  if (is_ordered) __syncthreads();
  values[threadIdx.x] = -1;
}

__global__ void some_do_not_come(int* count) {
  if (threadIdx.x < 10) return;
  __syncthreads();
  atomicAdd(count, 1);
}

#if !PINION_TEST_REAL_CUDA  // whose barriers have no names
__global__ void two_barriers() {
  if (threadIdx.x < 10)
    __syncthreads(1);
  else
    __syncthreads(2);
}
#endif

__global__ void least_of_odd(unsigned long long* least, unsigned* lanes) {
  if (threadIdx.x % 2 == 1) atomicMin(least, threadIdx.x);
  const unsigned odd = __ballot_sync(~0u, threadIdx.x % 2);
  if (threadIdx.x == 0) *lanes = odd;
}

}  // namespace

TEST_CASE("threads of a block exchange values over their warp and over shared memory, in either order") {
  const fresh_cuda machine(in_order(GENERATE(fake_cuda::thread_order::forward, fake_cuda::thread_order::backward)));
  int *const from = new_elements<int>(512), *const to = new_elements<int>(2);
  std::vector<int> numbers(512);
  std::iota(numbers.begin(), numbers.end(), 0);
  cudaMemcpy(from, numbers.data(), 2048, cudaMemcpyHostToDevice);
  run(sums_of_blocks, 2, 256, from, to);
  CHECK(elements(to, 2) == std::vector<int>{255 * 128, 255 * 128 + 256 * 256});
  CHECK(fake_cuda::take_misuses() == sentences{});
}

TEST_CASE("with a barrier, the order of a block's threads changes nothing") {
  const fresh_cuda machine(in_order(GENERATE(fake_cuda::thread_order::forward, fake_cuda::thread_order::backward)));
  int* const to = new_elements<int>(64);
  run(neighbours, 1, 64, to, true);
  std::vector<int> wanted(64);
  std::iota(wanted.begin(), wanted.end() - 1, 1);
  CHECK(elements(to, 64) == wanted);
}

#ifndef __SANITIZE_THREAD__  // it would see what this shows
TEST_CASE("without a barrier, a thread reads what its neighbour has not written", "[stand-in]") {
  const fresh_cuda machine(in_order(GENERATE(fake_cuda::thread_order::forward, fake_cuda::thread_order::backward)));
  int* const to = new_elements<int>(64);
  run(neighbours, 1, 64, to, false);
  const std::vector<int> seen = elements(to, 64);
  CHECK(std::count(seen.begin(), seen.end(), -1) > 0);
}
#endif

#if !PINION_TEST_REAL_CUDA
TEST_CASE_METHOD(fresh_cuda, "a barrier that not all threads reach is told, and the others go on") {
  int* const count = new_elements<int>(1);
  cudaMemset(count, 0, 4);
  run(some_do_not_come, 2, 64, count);
  CHECK(elements(count, 1)[0] == 2 * 54);
  run(two_barriers, 1, 64);
  const sentences told = fake_cuda::take_misuses();
  REQUIRE(told.size() == 2);
  CHECK_THAT(told[0], Catch::Contains("54 of 64 threads of a block wait at a barrier of line ") &&
                          Catch::Contains(", 0 for their warp, and 10 have ended"));
  CHECK(told[1] == "threads of a block wait at two barriers: of lines 1 and 2");
}
#endif

TEST_CASE_METHOD(fresh_cuda, "threads change a word as a whole, and vote") {
  auto* const least = new_elements<unsigned long long>(1);
  auto* const lanes = new_elements<unsigned>(1);
  cudaMemset(least, 0xff, 8);
  run(least_of_odd, 1, 32, least, lanes);
  CHECK(elements(least, 1)[0] == 1);
  CHECK(elements(lanes, 1)[0] == 0xaaaaaaaa);
}

TEST_CASE_METHOD(fresh_cuda, "a grid has blocks, and a block no more threads than a GPU's") {
  int* const count = new_elements<int>(1);
  CHECK(run(some_do_not_come, 0, 64, count) == cudaErrorInvalidConfiguration);
  CHECK(run(some_do_not_come, 1, 1025, count) == cudaErrorInvalidConfiguration);
}
