// The tasks of a cluster as one of them sees them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <rpc/echo.hpp>

#include <pinion/distributed/wire/peers.hpp>
#include <pinion/rpc/security/security.hpp>

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
  CHECK(w.connect(*all.route_to(ps_name)) == "");
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

TEST_CASE("a job without tasks so far is joined like others") {
  echo_world w;
  cluster_spec spec{{"ps", {ps_at}}};
  spec.add_job("worker");
  distributed::peers all(*w.worker, spec, {.me = {ps_name, 7}, .heartbeat = heartbeat});
  CHECK(all.learn("/job:worker/replica:0/task:3", {"far:1", 1}, 1) == "");
  CHECK(all.knows("/job:worker/replica:0/task:3"));
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
  if (has_way) (void)all.route_to(ps_name);
  CHECK(all.learn(ps_name, {"other:1", 20}, 2) == "");
  CHECK(w.connect(*all.route_to(ps_name), 10s) == "");
  CHECK(all.route_to(ps_name)->address() == ps_at);
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE("C12: a task of the spec that comes back is found there, however often somebody says that it is elsewhere") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}},
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  const auto every = GENERATE(as<rpc::duration>{}, 5ms, 100ms, 500ms);
  w.ps = nullptr;
  outcome<> met = error(errc::unavailable, "not yet");
  all.route_to(ps_name)->connect(std::nullopt, [&](const outcome<>& how) { met = how; });
  const auto began = w.world.now();
  for (std::uint64_t n = 1; !met && w.world.now() - began < 40s; ++n) {
    if (!w.ps && w.world.now() - began > 20s) w.start_ps();
    all.learn(ps_name, {n % 2 == 0 ? "liar:1" : "liar:2", 20 + n}, n + 1);
    all.unlearn(ps_name, n);
    w.world.run_for(every);
  }
  CHECK(met);
  CHECK(w.world.now() - began < 25s);
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

TEST_CASE(
    "C12: what answers at a task's former place, once the task has said that it is elsewhere, ends no wait for it") {
  echo_world w;
  const std::string one = "/job:ps/replica:0/task:1";
  distributed::peers all(*w.worker, {{"ps", {{0, "zero:1"}, {1, ps_at}}}},  // where task 0 answers
                         {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat});
  bool has_ended = false;
  const auto way = all.route_to(one);
  way->connect(std::nullopt, [&](const outcome<>&) { has_ended = true; });
  w.world.run_for(20us);
  CHECK(all.learn(one, {"far:1", 5}, 1) == "");
  w.world.run_for(4ms);  // the next attempt comes later
  CHECK_FALSE(has_ended);
  all.close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
}

// The peers of a worker, and what others tell it.
struct told : echo_world {
  explicit told(cluster_spec spec = {{"ps", {ps_at}}, {"worker", {"worker:1"}}})
      : all(*worker, spec, {.me = {"/job:worker/replica:0/task:0", 7}, .heartbeat = heartbeat}) {}
  ~told() {
    all.close(error(errc::cancelled, "the test is over"));
    world.run_for(1s);
  }
  // One task says where another is.
  std::shared_ptr<channel> hear(const std::string& task, const distributed::claim& where,
                                const std::string& by = ps_name) {
    return all.look_for(task, where, by, worker->now() + 60s);
  }
  std::vector<std::string> end_searches() {
    std::vector<std::string> others;
    for (const auto& one : all.end_searches(worker->now() + 60s))
      others.push_back(one.task + " at " + one.where.address + " by " + one.by);
    return others;
  }
  distributed::peers all;
};
const std::string third = "/job:worker/replica:0/task:3";
using lines_of = std::vector<std::string>;

TEST_CASE("C12: where another task says that one is, it is looked for, and not believed to be") {
  told w;
  CHECK(w.hear("/job:nobody/replica:0/task:0", {"far:1", 1}) == nullptr);
  CHECK(w.hear("no task", {"far:1", 1}) == nullptr);
  CHECK(w.hear(third, {"0.0.0.0:1", 1}) == nullptr);
  CHECK(w.hear(third, {"far:1", ~std::uint64_t{0}}) == nullptr);
  const auto way = w.hear(third, {"far:1", 1});
  REQUIRE(way);
  CHECK(way->address() == "far:1");
  CHECK(w.hear(third, {"far:2", 2}) == nullptr);  // one search at a time
  CHECK(way->address() == "far:2");
  CHECK(!w.all.knows(third));
  CHECK(w.all.names().size() == 2);
  CHECK(w.end_searches() == lines_of{});
  CHECK(w.all.sought() == 0);
  REQUIRE(w.hear(third, {"far:2", 2}));
  CHECK(w.all.learn(third, {"far:3", 3}, 1) == "");
  CHECK(w.all.sought() == 0);
  CHECK(w.all.address(third) == "far:3");
  CHECK(w.hear(third, {"far:4", 3}) == nullptr);  // it says itself where that life is
}

TEST_CASE("C12: one task that names many keeps no word of another out") {
  told w;
  auto hears = [&, next = 1000](int teller) mutable {
    const std::string task = "/job:ps/replica:0/task:" + std::to_string(next++);
    return w.hear(task, {"far:5", 1}, "teller " + std::to_string(teller)) != nullptr;
  };
  std::size_t before = 0, of_one = 0;
  for (int teller = 0; teller < 4; ++teller) {
    while (hears(teller)) continue;
    const std::size_t more = w.all.sought() - std::exchange(before, w.all.sought());
    CHECK(more > 0);
    CHECK((of_one == 0 || more == of_one));
    of_one = more;
  }
  CHECK(4 * of_one <= 1000);
  CHECK(w.end_searches().size() == 4);  // the words for which there was no room
  CHECK(hears(4));
}

TEST_CASE("C12: words of tasks that are known take no room from those of others") {
  std::vector<std::string> gone;
  for (int i = 0; i < 1100; ++i) gone.push_back("gone:" + std::to_string(i + 1));
  told w({{"ps", gone}});
  for (std::size_t i = 0; i < gone.size(); ++i)
    w.hear("/job:ps/replica:0/task:" + std::to_string(i), {"far:5", 1}, "teller");
  CHECK(w.all.sought() == gone.size());
  CHECK(w.hear("/job:ps/replica:0/task:2000", {"far:5", 1}, "teller") != nullptr);
}

TEST_CASE("C12: tasks that join, are told of and leave are sought among those that are not known, when told of again") {
  told w;
  for (int i = 0; i < 2000; ++i) {
    const std::string task = "/job:worker/replica:0/task:" + std::to_string(10 + i);
    w.all.learn(task, {"far:1", 5}, static_cast<std::uint64_t>(i));
    w.hear(task, {"far:2", 9});
    w.all.forget(task);
    w.hear(task, {"far:2", 9});
  }
  CHECK(w.all.sought() <= 250);
}

TEST_CASE("C12: a word that comes again does not change the route back") {
  told w({{"ps", {"gone:1"}}});
  const auto way = w.hear(ps_name, {"liar:1", 2});
  REQUIRE(way);
  for (int i = 0; way->address() == "liar:1" && i < 100; ++i) w.connect(*way, std::chrono::milliseconds(10 + i));
  REQUIRE(way->address() == "gone:1");
  CHECK(w.hear(ps_name, {"liar:1", 2}) == nullptr);
  CHECK(way->address() == "gone:1");
  CHECK(w.hear(ps_name, {"liar:2", 3}) == nullptr);
  CHECK(way->address() == "gone:1");  // nor does another, which comes behind this
}

TEST_CASE("C12: words that come faster than attempts, each of another place, keep nobody from where a task is") {
  outcome<> met = error(errc::unavailable, "not yet");
  told w({{"ps", {ps_at}}});
  const auto way = w.all.route_to(ps_name);
  way->connect(std::nullopt, [&](const outcome<>& how) { met = how; });
  for (int i = 0; i < 2000 && !met; ++i) {
    w.hear(ps_name, {i % 2 == 0 ? "liar:1" : "liar:2", 2 + static_cast<std::uint64_t>(i)});
    w.world.run_for(1ms);
  }
  CHECK(met);
}

TEST_CASE("C12: answers at a place that a liar gives, and changes before he answers, end nobody's wait") {
  outcome<> met;
  told w({{"ps", {{1, "gone:1"}}}});
  const std::string first = "/job:ps/replica:0/task:1";
  const auto way = w.hear(first, {ps_at, 2});  // where task 0 of the job answers, which is another
  REQUIRE(way);
  way->connect(std::nullopt, [&](const outcome<>& how) { met = how; });
  for (std::uint64_t i = 0; i < 50; ++i) {
    w.hear(first, {i % 2 == 0 ? "liar:1" : ps_at, 3 + i});
    w.world.run_for(20ms);
  }
  CHECK(met);  // nobody has ended it
  way->close(error(errc::cancelled, "the test is over"));
  w.world.run_for(1s);
  CHECK_FALSE(met);
}

TEST_CASE("C12: of two who tell of a task the one is followed after the other") {
  told w({{"ps", {"gone:1"}}});
  const bool is_known = GENERATE(true, false), lies_first = GENERATE(true, false);
  const std::string task = is_known ? ps_name : "/job:ps/replica:0/task:7";
  if (!lies_first) REQUIRE(w.hear(task, {ps_at, 2}, "honest"));
  const auto way = w.hear(task, {"liar:1", 9}, "liar");
  if (lies_first) REQUIRE(way);
  if (lies_first) CHECK(w.hear(task, {ps_at, 2}, "honest") == nullptr);
  CHECK(w.hear(task, {"liar:2", 9}, "liar") == nullptr);
  CHECK(w.end_searches() == lines_of{task + " at " + ps_at + " by honest"});
}

TEST_CASE("C12: a task of the spec is found there and where it is, whatever others say of it") {
  told w({{"ps", {"gone:1"}}});
  const bool lies = GENERATE(true, false);
  if (lies) CHECK(w.all.learn(ps_name, {ps_at, 1}, 1) == "");
  const auto way = w.hear(ps_name, {lies ? "liar:1" : ps_at, 2});
  REQUIRE(way);
  CHECK(w.hear(ps_name, {lies ? "liar:2" : ps_at, 3}) == nullptr);  // it is looked for, there from now on
  CHECK(w.hear(ps_name, {"liar:3", 3}) == nullptr);                 // which is said in vain
  CHECK(w.connect(*way, 10s) == "");
  CHECK(way->address() == ps_at);
  w.end_searches();
  CHECK(w.all.address(ps_name) == (lies ? ps_at : "gone:1"));  // what others say is forgotten
}

TEST_CASE("C12: where others say that a task is, another answers, which ends nobody's wait for it") {
  told w({{"ps", {{1, "gone:1"}}}});
  const std::string gone = "/job:ps/replica:0/task:1";
  const auto way = w.hear(gone, {ps_at, 2});  // where another task is
  REQUIRE(way);
  CHECK_THAT(w.connect(*way, 10s), Catch::StartsWith("deadline_exceeded"));
  w.end_searches();
  CHECK(way->address() == "gone:1");
  CHECK_THAT(w.connect(*way, 10s), !Catch::Contains(ps_at));
}

TEST_CASE("C12: a later life of a task is looked for once the earlier one is gone, however late that is noticed") {
  told w({{"ps", {"gone:1"}}});
  CHECK(w.all.learn(ps_name, {ps_at, 1}, 1) == "");
  const auto way = w.all.route_to(ps_name);
  REQUIRE(w.connect(*way, 10s) == "");
  const std::uint64_t later = way->incarnation() + 1;
  CHECK(w.hear(ps_name, {"later:1", later}) != nullptr);
  w.end_searches();
  CHECK(w.all.sought() == 1);
  w.world.freeze("ps");
  w.world.run_for(3s);
  w.all.unlearn(ps_name, 1);
  REQUIRE(!way->up());
  CHECK(way->address() == "later:1");
}

TEST_CASE("C12: of tasks that have joined and left few channels stay, and none that is closed too early") {
  echo_world w;
  distributed::peers all(*w.worker, {{"ps", {ps_at}}}, {.me = {"/job:worker/replica:0/task:0", 7}});
  std::vector<std::weak_ptr<channel>> ways;
  std::vector<std::uint64_t> generations;
  for (int i = 1; i <= 300; ++i) {
    const std::string task = "/job:ps/replica:0/task:" + std::to_string(i);
    all.learn(task, {"far:1", 1}, 1);
    ways.push_back(all.route_to(task));
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
  const auto way = all.route_to(ps_name);
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
