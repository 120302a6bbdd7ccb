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

}  // namespace
