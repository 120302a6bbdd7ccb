// The tasks of a cluster as one of them sees them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <rpc/echo.hpp>

#include <pinion/distributed/wire/peers.hpp>
#include <pinion/rpc/security.hpp>

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
  CHECK(all.learn(third, {"far:1", 1}, 1) == "");
  CHECK(all.learn("/job:nobody/replica:0/task:0", {"far:2", 1}, 2) == "");
  CHECK(all.learn("no task", {"far:3", 1}, 3) == "");
  CHECK(all.learn("/job:worker/replica:0/task:3/device:CPU:0", {"far:4", 1}, 4) == "");
  CHECK(all.learn(third, {"0.0.0.0:1", 9}, 5) ==
        third + " says that it is reached at 0.0.0.0:1, and is not believed: no other task finds it there");
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
    CHECK(all.learn(task, {"second:1", 20}, 2) == "");
    CHECK_THAT(all.learn(task, {"first:1", 10}, 1),
               Catch::Contains("another that began later") && Catch::EndsWith("is at second:1"));
    CHECK(all.address(task) == "second:1");
    CHECK(all.learn(task, {"second:2", 20}, 2) == "");
    CHECK(all.learn(task, {"third:1", 30}, 3) == "");
    CHECK(all.address(task) == "third:1");
  }
  all.forget(third);
  CHECK(all.learn(third, {"first:1", 10}, 1) == "");
}

TEST_CASE("C12: what a task has said of where it is is forgotten with the channel on which it said so") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}, {"worker", {"worker:1"}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  all.learn(ps_name, {"liar:1", 20}, 2);
  CHECK(all.learn(ps_name, {"honest:1", 10}, 1) != "");
  CHECK(all.address(ps_name) == "liar:1");
  all.unlearn(ps_name, 2);
  CHECK(all.address(ps_name) == "honest:1");
  all.unlearn(ps_name, 7);
  CHECK(all.address(ps_name) == "honest:1");
  all.unlearn(ps_name, 1);
  CHECK(all.address(ps_name) == ps_at);
  CHECK(all.learn(ps_name, {"back:1", 5}, 3) == "");
  CHECK(all.address(ps_name) == "back:1");
}

TEST_CASE("C12: a life that begins more than a day from now is not believed") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}}, {.me = {"/job:worker/replica:0/task:0", 7}});
  for (const std::uint64_t life : {~std::uint64_t{0}, new_incarnation() + (std::uint64_t{25 * 3600 * 1000} << 22)})
    CHECK_THAT(all.learn(ps_name, {"liar:1", life}, 1), Catch::Contains("more than a day from now"));
  CHECK(all.address(ps_name) == ps_at);
  const std::uint64_t soon = new_incarnation() + (std::uint64_t{23 * 3600 * 1000} << 22);
  CHECK(all.learn(ps_name, {"fast:1", soon}, 1) == "");
}

TEST_CASE("C12: a task of the spec is found at its address there while somebody says that it is elsewhere") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const bool has_way = GENERATE(true, false);
  if (has_way) (void)all.way_to(ps_name);
  CHECK(all.learn(ps_name, {"other:1", 20}, 2) == "");
  CHECK(w.connect(*all.way_to(ps_name), 10s) == "");
  CHECK(all.way_to(ps_name)->address() == ps_at);
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE("C12: where another task says that one is, it is looked for, and not believed to be") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}, {"worker", {"worker:1"}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const std::string third = "/job:worker/replica:0/task:3";
  CHECK(all.look_for("/job:nobody/replica:0/task:0", {"far:1", 1}) == nullptr);
  CHECK(all.look_for("no task", {"far:1", 1}) == nullptr);
  CHECK(all.look_for(third, {"0.0.0.0:1", 1}) == nullptr);
  CHECK(all.look_for(third, {"far:1", ~std::uint64_t{0}}) == nullptr);
  const auto way = all.look_for(third, {"far:1", 1});
  REQUIRE(way);
  CHECK(way->address() == "far:1");
  CHECK(all.look_for(third, {"far:2", 2}) == nullptr);  // one way at a time
  CHECK(!all.knows(third));
  CHECK(all.names().size() == 2);
  all.was_looked_for(third);
  CHECK(all.look_for(third, {"far:2", 2}) == way);
  CHECK(all.learn(third, {"far:3", 3}, 1) == "");
  CHECK(all.way_to(third) == way);
  CHECK(all.address(third) == "far:3");
  CHECK(all.look_for(third, {"far:4", 3}) == nullptr);  // it says itself where that life is
  for (int i = 1000; i < 2000; ++i)
    REQUIRE(all.look_for("/job:ps/replica:0/task:" + std::to_string(i), {"far:5", 1}) != nullptr);
  CHECK(all.look_for("/job:ps/replica:0/task:9", {"far:5", 1}) == nullptr);
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE("C12: a task of the spec is found there and where it is, whatever others say of it") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {"gone:1"}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const bool lies = GENERATE(true, false);
  if (lies) CHECK(all.learn(ps_name, {ps_at, 1}, 1) == "");
  const auto way = all.look_for(ps_name, {lies ? "liar:1" : ps_at, 2});
  REQUIRE(way);
  CHECK(all.look_for(ps_name, {lies ? "liar:2" : ps_at, 3}) == nullptr);  // it is looked for, there from now on
  CHECK(all.look_for(ps_name, {"liar:3", 3}) == nullptr);                 // which is said in vain
  CHECK(w.connect(*way, 10s) == "");
  CHECK(way->address() == ps_at);
  all.was_looked_for(ps_name);
  CHECK(all.address(ps_name) == (lies ? ps_at : "gone:1"));  // what others say is forgotten
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE("C12: of tasks that have joined and left few channels stay, and none that is closed too early") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}}, {.me = {"/job:worker/replica:0/task:0", 7}});
  std::vector<std::weak_ptr<channel>> ways;
  std::vector<std::uint64_t> generations;
  for (int i = 1; i <= 300; ++i) {
    const std::string task = "/job:ps/replica:0/task:" + std::to_string(i);
    all.learn(task, {"far:1", 1}, 1);
    ways.push_back(all.way_to(task));
    generations.push_back(ways.back().lock()->generation());
    all.forget(task);
    w.world.run_for(1ms);
  }
  const auto lives = [](const auto& way) { return !way.expired(); };
  CHECK(std::count_if(ways.begin(), ways.end(), lives) <= 64);
  CHECK(lives(ways.back()));
  CHECK(std::set(generations.begin(), generations.end()).size() == generations.size());
  CHECK(all.names().size() == 1);
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE("a task that says that it is reached elsewhere is left where it is until the channel to it is down") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const auto way = all.way_to(ps_name);
  CHECK(all.learn(ps_name, {"nowhere:1", 1}, 1) == "");
  CHECK(way->address() == "nowhere:1");
  CHECK(all.learn(ps_name, {ps_at, 1}, 1) == "");
  CHECK(w.connect(*way) == "");
  CHECK(all.learn(ps_name, {"elsewhere:1", 1}, 1) == "");
  CHECK(way->address() == ps_at);
  w.world.freeze("ps");
  w.world.run_for(3s);
  CHECK(way->address() == "elsewhere:1");
  w.world.thaw("ps");
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

}  // namespace
