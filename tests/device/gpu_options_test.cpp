// What a program takes of the GPUs of its machine.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>

namespace {

using namespace pinion;

const std::vector<sim::accelerator> machine{sim::gpu(1000), sim::gpu(2000), sim::gpu(3000)};

std::vector<std::int64_t> limits(const gpu_options& o) {
  std::vector<std::int64_t> all;
  for (const auto& a : sim::visible(machine, o)) all.push_back(a.memory_limit);
  return all;
}
std::string refusal_of(const gpu_options& o) {
  return failure([&] { sim::visible(machine, o); });
}

TEST_CASE("a program that says nothing sees all GPUs and all of their memory") {
  CHECK(limits({}) == std::vector<std::int64_t>{1000, 2000, 3000});
}

TEST_CASE("a fraction is that of each GPU's own memory") {
  CHECK(limits({.per_process_memory_fraction = .4}) == std::vector<std::int64_t>{400, 800, 1200});
}

TEST_CASE("visible devices are numbered as the program lists them") {
  CHECK(limits({.visible_devices = "2"}) == std::vector<std::int64_t>{3000});
  CHECK(limits({.per_process_memory_fraction = .5, .visible_devices = "1,0"}) == std::vector<std::int64_t>{1000, 500});
}

TEST_CASE("a GPU counts as several devices, which divide its memory") {
  CHECK(limits({.visible_devices = "1,0", .virtual_devices = 2}) == std::vector<std::int64_t>{1000, 1000, 500, 500});
  CHECK(refusal_of({.virtual_devices = 0}) ==
        "invalid_argument: virtual_devices is 0; a GPU counts as one device at least");
}

TEST_CASE("a list that the machine does not meet is refused, with the entry") {
  CHECK(refusal_of({.visible_devices = "0,3"}) ==
        "invalid_argument: visible_devices \"0,3\": '3' is not there; this machine has GPUs 0..2");
  CHECK(refusal_of({.visible_devices = "1,1"}) ==
        "invalid_argument: visible_devices \"1,1\": '1' is named twice; this machine has GPUs 0..2");
  for (const char* list : {"gpu", "0,", ",0", "0 ,1", "-1", "0;1"})
    CHECK(refusal_of({.visible_devices = list}).find("is no number of a GPU") != std::string::npos);
}

TEST_CASE("a fraction that is none is refused") {
  CHECK(refusal_of({.per_process_memory_fraction = 1.5}).find("not within [0, 1]") != std::string::npos);
  CHECK(refusal_of({.per_process_memory_fraction = -.1}).find("not within [0, 1]") != std::string::npos);
}

TEST_CASE("where there are no GPUs the options mean nothing, and other accelerators are left alone") {
  CHECK(sim::visible({}, {.visible_devices = "7"}).empty());
  const auto seen =
      sim::visible({{.type = "NPU", .memory_limit = 10}, sim::gpu(100)}, {.per_process_memory_fraction = .5});
  REQUIRE(seen.size() == 2);
  CHECK((seen[0].type == "GPU" && seen[0].memory_limit == 50));
  CHECK((seen[1].type == "NPU" && seen[1].memory_limit == 10));
}

TEST_CASE("a session computes within the part it takes") {
  graph g;
  const auto use = g.as_default();
  const device on{"/gpu:0"};
  auto x = zeros<float>({1024});
  session sess{
      {.gpu = {.per_process_memory_fraction = .5, .visible_devices = "1"}, .simulated = {sim::gpu(), sim::gpu(4096)}}};
  CHECK(sess.list_devices().size() == 2);
  CHECK(sess.list_devices()[1].memory_limit == 2048);
  CHECK(refusal([&] { sess.run(x * x); }, errc::resource_exhausted, "4096 bytes", "of 2048 bytes are in use") == "");
}

}  // namespace
