// What a server makes of its options.
#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

#include <pinion/distributed/server/task_setup.hpp>

namespace {

using namespace pinion;
using distributed::threads_of;

TEST_CASE("the tasks of a job share the cores of their machine, and those of another job take none of them") {
  const cluster_spec spec{{"ps", {"127.0.0.1:1"}}, {"worker", {"127.0.0.1:2", "127.0.0.1:3", "10.0.0.9:2"}}};
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto inter_op = [&](const std::string& job, int task) {
    return threads_of(spec, job, {.job = job, .task = task}).inter_op;
  };
  CHECK(inter_op("ps", 0) == cores);
  CHECK(inter_op("worker", 0) == std::max(1, cores / 2));
  CHECK(inter_op("worker", 1) == std::max(1, cores / 2));
  CHECK(inter_op("worker", 2) == cores);
}

TEST_CASE("the threads that a program asks for are those that its server has") {
  const cluster_spec spec{{"worker", {"127.0.0.1:2"}}};
  const auto asked =
      threads_of(spec, "worker", {.job = "worker", .config = {.inter_op_threads = 5, .intra_op_threads = 3}});
  CHECK(asked.inter_op == 5);
  CHECK(asked.intra_op == 2);  // and the thread that has begun the loop
}

}  // namespace
