// Clusters that change while they run: tasks that join and leave, and tasks that come back at other addresses.
#include <catch2/catch.hpp>

#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>
#include <pinion/train.hpp>

#include "distributed/real_cluster.hpp"
#include "support/caught.hpp"

namespace {

using namespace real;

const server_config elastic{.elastic = true};
std::string address_of(const std::string& target) {
  return target.substr(std::string("pinion://").size());
}
// A cluster of a ps and a worker, whose servers know no others.
struct small_cluster {
  local_cluster local{{{"ps", 1}, {"worker", 1}}, elastic};
  std::string ps_at = address_of(local.target("ps", 0)), worker_at = address_of(local.target("worker", 0));

  // A worker of whom the others have not heard.
  server newcomer(int task = 3, const server_config& config = elastic) const {
    cluster_spec spec{{"ps", {ps_at}}};
    spec.add_task("worker", task, "127.0.0.1:0").add_task("worker", 0, worker_at);
    return server(spec, {.job = "worker", .task = task, .config = config});
  }
};
std::vector<std::string> tasks_of(session& s) {
  std::vector<std::string> all;
  for (const device_info& d : s.list_devices()) all.push_back(std::string(task_of_device(d.name)));
  return all;
}

// The graph of one program: it adds to a count on the ps, from a worker.
struct counting : own_graph {
  explicit counting(int worker) {
    const device on{
        replica_device_setter{{.ps_tasks = 1, .worker_device = "/job:worker/task:" + std::to_string(worker)}}};
    count = variable(0.0f, {.name = "count"});
    add = assign_add(count, identity(constant(1.0f)));
  }
  variable_handle<float> count;
  expr<float> add;
};

}  // namespace

TEST_CASE("a worker that knows itself and the ps joins a running job, and leaves it") {
  small_cluster c;
  counting first(0), third(3);
  session one({.target = c.local.target("worker", 0), .graph = &first.g});
  one.run(first.count.initializer());
  one.run(first.add);
  {
    cluster_spec sparse{{"ps", {c.ps_at}}, {"worker", {{3, "127.0.0.1:0"}}}};
    server joined(sparse, {.job = "worker", .task = 3, .config = elastic});
    session other({.target = joined.target(), .graph = &third.g});
    CHECK(float(other.run(third.add)) == 2);
    CHECK(float(one.run(first.add)) == 3);
  }
  CHECK(float(one.run(first.add)) == 4);
  const server again = c.newcomer();
  session other({.target = again.target(), .graph = &third.g});
  CHECK(float(other.run(third.add)) == 5);
}

TEST_CASE("tasks that join are seen by sessions and by users' policies, and are gone when they leave") {
  small_cluster c;
  own_graph mine;
  session seen({.target = c.local.target("worker", 0), .graph = &mine.g});
  const std::vector<std::string> before{name_of("ps", 0), name_of("worker", 0)};
  CHECK(tasks_of(seen) == before);
  {
    server joined = c.newcomer();
    REQUIRE(soon([&] { return tasks_of(seen).size() == 3; }));
    CHECK(tasks_of(seen).back() == name_of("worker", 3));
    // A policy of a user's: everything goes to the worker that came last.
    const auto last = [&seen](const node_view&) { return tasks_of(seen).back(); };
    const device on{last};
    const auto sum = constant(1.0f) + constant(2.0f);
    CHECK(std::string(task_of_device(seen.plan(sum).device_of(sum.name()))) == name_of("worker", 3));
    CHECK(float(seen.run(sum)) == 3);
    joined.stop();
  }
  CHECK(soon([&] { return tasks_of(seen) == before; }));
}

TEST_CASE("C12: tasks that join are told of by those who know them, and find a ps that comes back elsewhere") {
  small_cluster c;
  const auto sparse = [&](int task) { return cluster_spec{{"ps", {c.ps_at}}, {"worker", {{task, "127.0.0.1:0"}}}}; };
  const server third(sparse(3), {.job = "worker", .task = 3, .config = elastic});
  const server fifth(sparse(5), {.job = "worker", .task = 5, .config = elastic});
  const auto knows = [](const std::string& target) { return inspect(target).peers.size(); };
  const std::string all[] = {c.local.target("ps", 0), c.local.target("worker", 0), third.target(), fifth.target()};
  for (const std::string& target : all) CHECK(soon([&] { return knows(target) == 3; }));

  c.local.server("ps", 0).stop();
  const server back({{"ps", {"127.0.0.1:0"}}, {"worker", {c.worker_at}}}, {.job = "ps", .config = elastic});
  counting program(3);
  session s({.target = third.target(), .graph = &program.g, .startup_timeout = 20s});
  s.run(program.count.initializer());
  CHECK(float(s.run(program.add)) == 1);
  for (const std::string& target : {back.target(), all[1], all[2], all[3]})
    CHECK(soon([&] { return knows(target) == 3; }));
}

TEST_CASE("a task that nobody knows and that is not elastic is refused, and told how it joins") {
  small_cluster c;
  counting third(3);
  const server silent = c.newcomer(3, {});
  session s({.target = silent.target(), .graph = &third.g});
  CHECK(refusal([&] { s.run(third.add); }, errc::permission_denied, "has no task " + name_of("worker", 3),
                "server_config.elastic") == "");
}

TEST_CASE("a task of a job that the cluster does not have joins nothing") {
  small_cluster c;
  cluster_spec spec{{"ps", {c.ps_at}}, {"stranger", {"127.0.0.1:0"}}};
  server stranger(spec, {.job = "stranger", .config = elastic});
  own_graph mine;
  const auto v = [&] {
    const device on{"/job:ps/task:0"};
    return variable(1.0f, {.name = "v"});
  }();
  session s({.target = stranger.target(), .graph = &mine.g});
  CHECK(refusal([&] { s.run(v.initializer()); }, errc::permission_denied,
                "has no task /job:stranger/replica:0/task:0") == "");
}

TEST_CASE("C12: a task that is lied about is found once the liar has left, whatever life he claimed") {
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  const server worker(spec, {.job = "worker", .config = elastic});
  const std::uint64_t life = GENERATE(~std::uint64_t{0}, std::uint64_t{1} << 63, rpc::new_incarnation() + (1u << 30));
  {
    const auto net = rpc::tcp_network_of_this_process();
    const auto lies = std::make_shared<rpc::channel>(
        *net, address_of(worker.target()), "",
        rpc::channel_options{.me = {name_of("ps", 0), life}, .reached_at = "127.0.0.1:1"});
    countdown met;
    lies->connect(net->now() + 20s, [&](const outcome<>&) { met.count_down(); });
    REQUIRE(met.wait());
    lies->close(error(errc::cancelled, "the liar leaves"));
    rpc::settle(*net);
  }
  const server ps(spec, {.job = "ps", .config = elastic});
  counting program(0);
  session s({.target = worker.target(), .graph = &program.g, .startup_timeout = 20s});
  s.run(program.count.initializer());
  CHECK(float(s.run(program.add)) == 1);
}
