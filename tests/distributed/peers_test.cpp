// The tasks of a cluster as one of them sees them.
#include <catch2/catch.hpp>

#include <rpc/echo.hpp>

#include <pinion/distributed/wire/peers.hpp>

namespace {

using namespace pinion_tests;

std::vector<std::string> lines(const distributed::peers& all) {
  std::vector<std::string> said;
  for (const peer_report& each : all.report("")) said.push_back(each.name + " at " + each.address + ": " + each.state);
  return said;
}

TEST_CASE("C11: what is known of all tasks of a cluster is a list of their states, whoever was needed so far") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}, {"worker", {"worker:1", "other:1"}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const std::string of_workers[] = {"/job:worker/replica:0/task:0 at worker:1: joining",
                                    "/job:worker/replica:0/task:1 at other:1: joining"};
  const auto said = [&](const std::string& of_ps) {
    return std::vector<std::string>{ps_name + " at " + ps_at + ": " + of_ps, of_workers[0], of_workers[1]};
  };
  CHECK(lines(all) == said("joining"));
  CHECK(w.connect(*all.way_to(ps_name)) == "");
  CHECK(lines(all) == said("running"));
  CHECK(all.view_of(ps_name).silence.has_value());
  w.world.freeze("ps");
  w.world.run_for(3s);
  CHECK(lines(all) == said("dead"));
  CHECK_THAT(all.view_of(ps_name).reason, Catch::Contains("has not answered for 2.0 s"));
  CHECK(failure([&] { all.view_of("/job:nobody/replica:0/task:0"); }) ==
        "not_found: the cluster has no task /job:nobody/replica:0/task:0");
  w.world.thaw("ps");
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE("a task that tells where it is reached joins the others of its job, and is forgotten when it is gone") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}, {"worker", {{0, "worker:1"}, {10, "other:1"}}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const std::string third = "/job:worker/replica:0/task:3", tenth = "/job:worker/replica:0/task:10";
  CHECK(all.learn(third, "far:1", 1));
  CHECK(all.learn("/job:nobody/replica:0/task:0", "far:2", 1));
  CHECK(all.learn("no task", "far:3", 1));
  CHECK(all.learn("/job:worker/replica:0/task:3/device:CPU:0", "far:4", 1));
  CHECK(all.names() == std::vector<std::string>{ps_name, "/job:worker/replica:0/task:0", third, tenth});
  CHECK(all.address(third) == "far:1");
  for (const std::string& task : {third, tenth}) all.forget(task);
  CHECK(!all.knows(third));
  CHECK(all.knows(tenth));  // it is in the spec
  CHECK(all.names().size() == 3);
}

TEST_CASE("of two that call themselves the same task, the one that began later is believed where it is reached") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}, {"worker", {"worker:1"}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const std::string third = "/job:worker/replica:0/task:3";
  for (const std::string& task : {ps_name, third}) {
    CHECK(all.learn(task, "second:1", 20));
    CHECK_FALSE(all.learn(task, "first:1", 10));
    CHECK(all.address(task) == "second:1");
    CHECK(all.learn(task, "second:2", 20));
    CHECK(all.learn(task, "third:1", 30));
    CHECK(all.address(task) == "third:1");
  }
  all.forget(third);
  CHECK(all.learn(third, "first:1", 10));
}

TEST_CASE("a task that says that it is reached elsewhere is left where it is until the channel to it is down") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const auto way = all.way_to(ps_name);
  CHECK(all.learn(ps_name, "nowhere:1", 1));
  CHECK(way->address() == "nowhere:1");
  CHECK(all.learn(ps_name, ps_at, 1));
  CHECK(w.connect(*way) == "");
  CHECK(all.learn(ps_name, "elsewhere:1", 1));
  CHECK(way->address() == ps_at);
  w.world.freeze("ps");
  w.world.run_for(3s);
  CHECK(way->address() == "elsewhere:1");
  w.world.thaw("ps");
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

}  // namespace
