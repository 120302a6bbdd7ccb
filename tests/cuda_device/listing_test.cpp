// Which GPUs a session finds, what it says where there are none, and what it takes of them.
#include <catch2/catch.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

std::string why_no_gpu() {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{"/gpu:0"};
  pn::session sess;
  const auto x = pn::constant<float>({1, 2}) * 2.f;
  return caught([&] { sess.run(x); }).sentence();
}

TEST_CASE("a session lists the GPUs of the machine, and makes no context for that", "[stand-in]") {
  const machine with_two{machine::with(2)};
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess;
  const auto devices = sess.list_devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[1].name == gpu_0);
  CHECK(devices[2].name == "/job:localhost/replica:0/task:0/device:GPU:1");
  CHECK(devices[1].memory_limit == std::int64_t{256} << 20);
  CHECK(devices[1].description.find("CUDA, compute capability 9.0") != std::string::npos);
  CHECK(fake_cuda::count().streams == 0);
  CHECK(fake_cuda::count().device_blocks == 0);
}

TEST_CASE("each GPU that CUDA lists is a device of a session, with all of its memory") {
  const machine m;
  const auto cards = pn::cuda::list_cards().cards;
  REQUIRE(!cards.empty());
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess;
  const auto devices = sess.list_devices();
  REQUIRE(devices.size() == 1 + cards.size());
  for (std::size_t i = 0; i < cards.size(); ++i) {
    CHECK(devices[i + 1].memory_limit == cards[i].memory);
    CHECK(devices[i + 1].description.find(cards[i].name) != std::string::npos);
  }
}

TEST_CASE("CUDA is available where a driver that is new enough shows a GPU", "[stand-in]") {
  {
    const machine m;
    CHECK(pn::cuda_available());
    CHECK(fake_cuda::count().streams == 0);
  }
  for (const auto driver : {fake_cuda::driver::missing, fake_cuda::driver::old}) {
    const machine m{machine::with_driver(driver)};
    CHECK(!pn::cuda_available());
  }
}

TEST_CASE("a machine without a driver has no GPUs, and who asks for one is told so", "[stand-in]") {
  const machine m{machine::with_driver(fake_cuda::driver::missing)};
  CHECK(refusal([] { throw pn::error(pn::errc::internal, why_no_gpu()); }, pn::errc::internal,
                "no such device; there are /job:localhost/replica:0/task:0/device:CPU:0",
                "; this machine has no driver of NVIDIA GPUs") == "");
}

TEST_CASE("a driver older than the runtime is named with both versions", "[stand-in]") {
  const machine m{machine::with_driver(fake_cuda::driver::old)};
  const std::string why = why_no_gpu();
  CHECK(why.find("the driver of this machine's GPUs knows CUDA ") != std::string::npos);
  CHECK(why.find(", and this program needs CUDA ") != std::string::npos);
}

TEST_CASE("a driver without a GPU says so", "[stand-in]") {
  const machine m{machine::with_driver(fake_cuda::driver::without_devices)};
  CHECK(why_no_gpu().find("; the driver shows no GPU to this program") != std::string::npos);
}

TEST_CASE("a session that asks for simulated GPUs gets those and no others") {
  const machine with_two{machine::with(2)};
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  REQUIRE(sess.list_devices().size() == 2);
  CHECK(sess.list_devices()[1].description.find("simulated") == 0);
}

TEST_CASE("GPUs are numbered as the program lists them, and one may count as several devices", "[stand-in]") {
  const machine with_three{machine::with(3)};
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess{{.gpu = {.per_process_memory_fraction = .5, .visible_devices = "2,0", .virtual_devices = 2}}};
  const auto devices = sess.list_devices();
  REQUIRE(devices.size() == 5);
  CHECK(devices[4].name == "/job:localhost/replica:0/task:0/device:GPU:3");
  CHECK(devices[4].memory_limit == std::int64_t{64} << 20);
}

TEST_CASE("a list that names a GPU which is not there is refused before anything is taken", "[stand-in]") {
  const machine with_two{machine::with(2)};
  pn::graph g;
  const auto use = g.as_default();
  CHECK(failure([] { pn::session sess{{.gpu = {.visible_devices = "0,2"}}}; }) ==
        "invalid_argument: visible_devices \"0,2\": '2' is not there; this machine has GPUs 0..1");
  CHECK(fake_cuda::count().device_blocks == 0);
}

}  // namespace
