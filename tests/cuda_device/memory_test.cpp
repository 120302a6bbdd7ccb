// The memory of a GPU: limits, reuse in stream order, and what is said where it runs out.
#include <catch2/catch.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

struct card : machine {
  explicit card(std::int64_t limit = 1 << 20, bool reserve = false, const fake_cuda::settings& like = {})
      : machine(like), device(pn::parse_device(gpu_0), pn::cuda::list_cards().cards[0], limit, reserve) {}
  pn::any_tensor room(std::int64_t floats) { return {pn::dtype::float32, {floats}, device.memory()}; }

  pn::cuda::device device;
};

TEST_CASE("a GPU takes memory with its first use, and gives all of it back") {
  {
    card gpu;
    CHECK(fake_cuda::count().device_blocks == 0);
    const auto t = gpu.room(1000);
    CHECK(fake_cuda::count().device_blocks == 1);
  }
  CHECK(fake_cuda::count().device_blocks == 0);
  CHECK(fake_cuda::count().streams == 0);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE("memory that was given back is handed out again without a call of CUDA") {
  card gpu;
  const void* const first = gpu.room(1000).raw();
  CHECK(gpu.room(1000).raw() == first);
  CHECK(fake_cuda::count().device_blocks == 1);
  CHECK(gpu.device.memory().used() == 0);
  CHECK(gpu.device.memory().peak() >= 4000);
}

TEST_CASE("an allocation beyond the limit names the request, the limit and the largest blocks") {
  card gpu(1 << 20);
  const auto a = gpu.room(100000), b = gpu.room(100000), c = gpu.room(1000);
  CHECK(failure([&] { gpu.room(100000); }) == "resource_exhausted: no memory for 400000 bytes on " + gpu_0 + ": " +
                                                  std::to_string(gpu.device.memory().used()) +
                                                  " of 1048576 bytes are in use; the largest blocks are 2 of " +
                                                  std::to_string(a.storage()->capacity()) + " bytes, 1 of " +
                                                  std::to_string(c.storage()->capacity()) + " bytes");
}

TEST_CASE("idle blocks of other sizes make room for a larger one") {
  card gpu(1 << 20);
  { const auto a = gpu.room(60000), b = gpu.room(70000), c = gpu.room(80000); }
  CHECK_NOTHROW(gpu.room(250000));
}

TEST_CASE("memory that CUDA does not have is resource_exhausted, and the device goes on", "[stand-in]") {
  card gpu(1 << 20);
  const auto in_use = gpu.room(1);
  fake_cuda::fail_allocation(1);
  CHECK(refusal([&] { gpu.room(1000); }, pn::errc::resource_exhausted, "no memory for 4000 bytes") == "");
  CHECK_NOTHROW(gpu.room(1000));
}

TEST_CASE("a device that reserves its part takes it with its first use") {
  card gpu(1 << 20, true);
  CHECK(fake_cuda::count().device_bytes == 0);
  gpu.room(1);
  CHECK(fake_cuda::take_misuses().empty());
}

}  // namespace
