// The memory of a GPU: limits, reuse in stream order, and what is said where it runs out.
#include <catch2/catch.hpp>

#include <cuda_runtime_api.h>

#include <cstdio>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

struct card : machine {
  explicit card(std::int64_t limit = 1 << 20, bool reserve = false, const fake_cuda::settings& like = {})
      : machine(like), device(pn::parse_device(gpu_0), pn::cuda::list_cards().cards[0], limit, reserve) {}
  pn::any_tensor room(std::int64_t floats, std::string_view holder = {}) {
    return {pn::dtype::float32, {floats}, device.memory(), holder};
  }

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

TEST_CASE("the plan of a step that has run tells the most memory of a GPU that was in use", "[stand-in]") {
  const world w;
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({100000}, "x");
  auto y = pn::reduce_sum(pn::exp(x));
  pn::session sess;
  CHECK(sess.plan(y).notes().empty());
  sess.run({{x, pn::tensor<float>{{100000}}}}, y);
  const auto notes = sess.plan(y).notes();
  REQUIRE(notes.size() == 1);
  std::int64_t most = 0, limit = 0;
  REQUIRE(std::sscanf(notes[0].substr(gpu_0.size()).c_str(), ": %ld of %ld bytes were in use", &most, &limit) == 2);
  CHECK(most >= 400000);
  CHECK(limit == std::int64_t{256} << 20);
}

TEST_CASE("an allocation beyond the limit names the request, the limit and the largest holders") {
  card gpu(1 << 20);
  const auto a = gpu.room(100000, "a"), b = gpu.room(100000, "a"), c = gpu.room(1000);
  CHECK(failure([&] { gpu.room(100000); }) == "resource_exhausted: no memory for 400000 bytes on " + gpu_0 + ": " +
                                                  std::to_string(gpu.device.memory().used()) +
                                                  " of 1048576 bytes are in use; the largest holders are 'a' with " +
                                                  std::to_string(2 * a.storage()->capacity()) +
                                                  " bytes in 2 blocks, values without a node with " +
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
  CHECK(refusal([&] { gpu.room(1000); }, pn::errc::resource_exhausted, "no memory for 4000 bytes",
                " of 1048576 bytes are in use; ", ", and on the GPU ", " of 268435456 bytes are free") == "");
  CHECK_NOTHROW(gpu.room(1000));
}

std::int64_t bytes_free() {
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return static_cast<std::int64_t>(free);
}

TEST_CASE("a device that reserves its part takes it with its first use, and another what it needs") {
  constexpr std::int64_t part = 128 << 20;
  for (const bool reserves : {true, false}) {
    card gpu(part, reserves);
    const std::int64_t before = bytes_free();
    gpu.room(1);
    // Half of it: CUDA takes memory in pieces, which are smaller, and may give back late what others had.
    CHECK((before - bytes_free() > part / 2) == reserves);
    CHECK(fake_cuda::take_misuses().empty());
  }
}

TEST_CASE("a part that is not there is refused with what is free, until it is", "[stand-in]") {
  const machine m{machine::with_memory(256 << 20)};
  const auto facts = pn::cuda::list_cards().cards[0];
  auto tenant = std::make_unique<pn::cuda::device>(pn::parse_device(gpu_0), facts, 192 << 20, false);
  auto most = std::make_unique<pn::any_tensor>(pn::dtype::float32, pn::shape{40 << 20}, tenant->memory());
  const std::size_t free = (std::size_t{256} << 20) - most->storage()->capacity();
  pn::cuda::device half(pn::parse_device(gpu_0), facts, 128 << 20, true);
  for (int i = 0; i < 2; ++i)
    CHECK(failure([&] { half.memory(); }) ==
          "resource_exhausted: " + gpu_0 +
              " cannot take its part of the GPU's memory, 134217728 bytes, with its first "
              "use: " +
              std::to_string(free) +
              " of 268435456 bytes are free; a smaller per_process_memory_fraction fits, "
              "or allow_growth");
  CHECK(fake_cuda::count().pools == 1);
  most.reset();
  tenant.reset();
  CHECK_NOTHROW(half.memory());
}

TEST_CASE("a session whose part of a GPU is not there fails its steps there, and no others", "[stand-in]") {
  world w(machine::with_memory(1 << 20));
  pn::cuda::device tenant(pn::parse_device(gpu_0), pn::cuda::list_cards().cards[0], 1 << 20, false);
  const pn::any_tensor most(pn::dtype::float32, {200000}, tenant.memory());
  pn::session sess{{.gpu = {.per_process_memory_fraction = .5}}};
  const auto on_gpu = [&](const char* where) {
    const pn::device on{where};
    return pn::constant<float>({1, 2}) * 2.f;
  };
  const auto here = on_gpu("/cpu:0"), there = on_gpu("/gpu:0");
  CHECK(refusal([&] { sess.run(there); }, pn::errc::resource_exhausted,
                "cannot take its part of the GPU's memory, 524288", " of 1048576 bytes are free") == "");
  CHECK(pn::tensor<float>(sess.run(here)) == pn::tensor<float>::of({2, 4}));
}

}  // namespace
