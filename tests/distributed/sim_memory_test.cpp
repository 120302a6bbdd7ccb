// Memory that a task gives back while time passes.
#include <distributed/sim_cluster.hpp>

#include <catch2/catch.hpp>

#include <pinion/device/pool_allocator.hpp>

namespace {

using namespace pinion_tests;

TEST_CASE("L4: blocks of values that nobody needed between two sweeps go back to the system, others stay") {
  sim_cluster world;
  auto& pool = devices::pool_allocator::of_cpus();
  constexpr std::size_t large = std::size_t{64} << 20;
  const auto use = [&] { const buffer_ref value(pool.allocate(large)); };
  world.run_for(30s);  // what earlier tests left is gone
  const auto before = pool.held();
  use();
  CHECK(pool.held() >= before + static_cast<std::int64_t>(large));
  world.run_for(5s);
  for (int i = 0; i < 6; ++i) {  // it is needed between any two
    use();
    world.run_for(5s);
  }
  CHECK(pool.held() >= before + static_cast<std::int64_t>(large));
  world.run_for(30s);
  CHECK(pool.held() <= before);
}

}  // namespace
