// The account of a device's memory: what is in use, and by whom.
#include <pinion/device/ledger.hpp>

#include <catch2/catch.hpp>

namespace {

using pinion::devices::ledger;

// Blocks stand for memory that nobody touches.
void* nowhere(std::uintptr_t at) {
  return reinterpret_cast<void*>(at);
}

TEST_CASE("a refusal names the request, the limit, and the largest holders with all that each has") {
  ledger l("/gpu:0", 10000);
  CHECK(l.no_memory(7).sentence() == "no memory for 7 bytes on /gpu:0: 0 of 10000 bytes are in use");
  l.add(nowhere(1), 512, "dense/MatMul");
  l.add(nowhere(2), 2048, "W");
  l.add(nowhere(3), 1024, "dense/MatMul");
  l.add(nowhere(4), 512, "");
  l.add(nowhere(5), 256, "a");
  l.add(nowhere(6), 128, "b");
  CHECK_FALSE(l.has_room(8192));
  const auto e = l.no_memory(8000, ", and more");
  CHECK(e.code() == pinion::errc::resource_exhausted);
  CHECK(e.device() == "/gpu:0");
  CHECK(e.sentence() ==
        "no memory for 8000 bytes on /gpu:0: 4480 of 10000 bytes are in use; the largest holders are 'W' with 2048 "
        "bytes, 'dense/MatMul' with 1536 bytes in 2 blocks, values without a node with 512 bytes, 'a' with 256 bytes, "
        "and more");
}

TEST_CASE("a block that came back counts no more, and serves the next holder of its size") {
  ledger l("/gpu:0", 1024);
  auto* const b = l.add(nowhere(1), 512, "first");
  CHECK(l.take_idle(512, "second") == nullptr);
  l.keep(*b);
  CHECK(l.used() == 0);
  CHECK(l.peak() == 512);
  CHECK(l.no_memory(1).sentence().find("first") == std::string::npos);
  CHECK(l.take_idle(256, "second") == nullptr);
  CHECK(l.take_idle(512, "second") == b);
  CHECK(l.used() == 512);
  CHECK(l.no_memory(1).sentence().find("'second' with 512 bytes") != std::string::npos);
}

TEST_CASE("a block is held by whom it was last given to") {
  ledger l("/gpu:0", 1024);
  auto* const b = l.add(nowhere(1), 512, "W/initial_value");
  l.rename(*b, "W");
  CHECK(l.no_memory(1).sentence().find("; the largest holders are 'W' with 512 bytes") != std::string::npos);
}

TEST_CASE("idle blocks are forgotten together, and those in use stay") {
  ledger l("/gpu:0", 4096);
  auto* const a = l.add(nowhere(1), 512, "a");
  l.add(nowhere(2), 512, "b");
  auto* const c = l.add(nowhere(3), 1024, "c");
  l.keep(*a);
  l.keep(*c);
  CHECK(l.drop_idle() == std::vector<void*>{nowhere(1), nowhere(3)});
  CHECK(l.drop_idle().empty());
  CHECK(l.take_idle(512, "d") == nullptr);
  CHECK(l.used() == 512);
}

}  // namespace
