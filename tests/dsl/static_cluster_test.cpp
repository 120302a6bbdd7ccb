// Clusters that the compiler knows. What it refuses is in tests/rejected.
#include <pinion/graph.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>

namespace {

using namespace pinion;
using cluster = static_cluster<job<"ps", 2>, job<"worker", 3>, job<"idle", 0>>;

static_assert(cluster::tasks("ps") == 2);
static_assert(cluster::tasks("idle") == 0);
static_assert(cluster::tasks("chief") == -1);
static_assert(cluster::has(parse_device("/job:worker/task:2/gpu:7")));
static_assert(cluster::has(parse_device("/task:2")));
static_assert(cluster::has(parse_device("/gpu:0")));
static_assert(cluster::has(parse_device("/job:ps/replica:0")));
static_assert(!cluster::has(parse_device("/job:worker/task:3")));
static_assert(!cluster::has(parse_device("/task:3")));
static_assert(!cluster::has(parse_device("/job:idle")));
static_assert(!cluster::has(parse_device("/job:chief")));
static_assert(!cluster::has(parse_device("/job:ps/replica:1")));
static_assert(std::is_same_v<decltype(cluster::at<"/job:ps/task:1">()), decltype(cluster::at<"/task:1/job:ps">())>);

TEST_CASE("place and at of a static cluster do as those without one") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({2}, "x");
  auto y = cluster::place<"/job:worker/task:2/cpu:0">(x + 1);
  static_assert(std::is_same_v<decltype(y), decltype(place<"/job:worker/task:2/cpu:0">(x + 1))>);
  CHECK(to_string(y.requested_device()) == "/job:worker/task:2/device:CPU:0");
  auto v = cluster::place<"/job:ps/task:1">(variable(1.f, {.name = "v"}));
  CHECK(to_string(g[id_of(v)].requested) == "/job:ps/task:1");
  const device on{cluster::at<"/job:ps/task:0">()};
  CHECK(to_string(constant(1.f).requested_device()) == "/job:ps/task:0");
}

TEST_CASE("the cluster that runs is held against the one that was compiled for") {
  cluster_spec c{{"ps", {"a:1", "b:1"}}, {"worker", {"c:1", "d:1", "e:1"}}};
  CHECK_NOTHROW(cluster::expect(c));
  CHECK(failure([] {
          cluster::expect({{"ps", {"a:1"}}, {"worker", {"c:1", "d:1", "e:1"}}});
        }) == "invalid_argument: the program was compiled for 2 tasks of job 'ps', numbered from 0; the cluster has 1");
  CHECK(failure([] {
          cluster::expect({{"ps", {{0, "a:1"}, {5, "b:1"}}}, {"worker", {"c:1", "d:1", "e:1"}}});
        }) == "invalid_argument: the program was compiled for 2 tasks of job 'ps', numbered from 0; the cluster has 2");
  c.add_job("chief");
  c.add_task("chief", 0, "f:1");
  CHECK(failure([&] { cluster::expect(c); }) ==
        "invalid_argument: the cluster has a job 'chief' that the program does not know");
}

}  // namespace
