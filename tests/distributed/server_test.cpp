// A server's life: what it refuses, how it is stopped, and that it leaves nothing behind.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>

namespace {

using namespace real;

const cluster_spec one_task{{"local", {"127.0.0.1:0"}}};

// ---- what is refused

std::string refusal(const cluster_spec& cluster, const server_options& options = {}) {
  return failure([&] { server refused(cluster, options); });
}

TEST_CASE("a server of an unknown job or task is refused, and told what there is") {
  const cluster_spec cluster{{"ps", {"127.0.0.1:0"}}, {"worker", {"127.0.0.1:0", "127.0.0.1:0"}}};
  CHECK(refusal(cluster, {.job = "chief"}) == "not_found: the cluster has no job 'chief'; it has: ps, worker");
  CHECK(refusal(cluster, {.job = "worker", .task = 2}) ==
        "not_found: the cluster has no task 2 of job 'worker'; this job has tasks: 0, 1");
  CHECK(refusal(cluster) == "invalid_argument: the cluster has 2 jobs; a server must say of which it is a task");
  CHECK_THAT(refusal({}), Catch::StartsWith("invalid_argument: the cluster has "));
}

TEST_CASE("a cluster with an address given twice, or a port out of range, is refused") {
  CHECK_THAT(failure([] {
               cluster_spec({{"ps", {"127.0.0.1:2221"}}, {"worker", {"127.0.0.1:2221"}}});
             }),
             Catch::StartsWith("invalid_argument: address '127.0.0.1:2221' is given twice: to task 0 of job 'ps'"));
  for (const char* port : {"65536", "-1", "http", ""})
    CHECK_THAT(failure([&] {
                 cluster_spec({{"ps", {std::string("127.0.0.1:") + port}}});
               }),
               Catch::Contains("the port from 0 to 65535"));
}

TEST_CASE("an address that is taken is refused") {
  const server first(one_task);
  const std::string address = first.target().substr(9);
  const cluster_spec same{{"local", {address}}};
  CHECK(refusal(same) == "already_exists: cannot listen on " + address + ": Address already in use");
}

TEST_CASE("an address that others can reach is refused without a key") {
  const cluster_spec open{{"local", {"0.0.0.0:0"}}};
  CHECK(refusal(open) ==
        "failed_precondition: others can reach 0.0.0.0:0: a server there needs a key or TLS (.security, or "
        "PINION_KEY_FILE)");
  CHECK(refusal({{"local", {"[::]:0"}}}) ==
        "failed_precondition: others can reach [::]:0: a server there needs a key or TLS (.security, or "
        "PINION_KEY_FILE)");
  server guarded(open, {.security = {.key = "a secret of sixteen bytes"}});
  CHECK_THAT(guarded.target(), Catch::StartsWith("pinion://0.0.0.0:"));
}

TEST_CASE("an address of another machine is refused") {
  CHECK_THAT(refusal({{"local", {"192.0.2.1:0"}}}, {.security = {.key = "a secret of sixteen bytes"}}),
             Catch::StartsWith("invalid_argument: cannot listen on 192.0.2.1:0: "));
}

TEST_CASE("an address of a peer that leads nowhere is refused, and one of its own that an elastic task would tell") {
  const auto with_worker = [](const char* at, const server_config& config = {}) {
    const cluster_spec both{{"ps", {"127.0.0.1:0"}}, {"worker", {at}}};
    return refusal(both, {.job = "ps", .config = config});
  };
  const std::string worker = "invalid_argument: /job:worker/replica:0/task:0 is at '";
  CHECK(with_worker("127.0.0.1:0") ==
        worker + "127.0.0.1:0' in the cluster spec, where no other task finds it; write the port on which it listens");
  CHECK(with_worker("0.0.0.0:2222") ==
        worker +
            "0.0.0.0:2222' in the cluster spec, where no other task finds it; write the host by which others "
            "reach it");
  CHECK_THAT(with_worker("[::]:2222"), Catch::StartsWith(worker + "[::]:2222'"));
  CHECK_THAT(refusal({{"local", {"0.0.0.0:0"}}},
                     {.security = {.key = "a secret of sixteen bytes"}, .config = {.elastic = true}}),
             Catch::StartsWith("invalid_argument: /job:local/replica:0/task:0 would tell others that it is reached at "
                               "0.0.0.0:"));
}

TEST_CASE("a target of port 0 is refused at once") {
  CHECK(failure([] { session refused{{.target = "pinion://127.0.0.1:0"}}; }) ==
        "invalid_argument: the target 'pinion://127.0.0.1:0' has port 0, at which no server is; server::target() says "
        "where one is that was given port 0");
}

TEST_CASE("a server listens where its config says, and is known by the address in its cluster") {
  const std::string known_as = free_addresses({{"worker", 1}}).address("worker", 0);
  const std::string port = known_as.substr(known_as.rfind(':'));
  server s({{"worker", {known_as}}}, {.job = "worker", .config = {.listen = "127.0.0.2" + port}});
  CHECK(s.target() == "pinion://" + known_as);
  CHECK(inspect("pinion://127.0.0.2" + port).address == known_as);
  session here(toward(s.target()));
  CHECK(float(tensor<float>(here.run(constant(7.f)))) == 7);

  server any({{"worker", {"127.0.0.1:0"}}}, {.job = "worker", .config = {.listen = "127.0.0.2:0"}});
  CHECK(any.target().starts_with("pinion://127.0.0.1:"));
  CHECK(!any.target().ends_with(":0"));
  CHECK(inspect("pinion://127.0.0.2" + any.target().substr(any.target().rfind(':'))).state == "running");

  const auto refused = [](const char* listen) {
    return refusal({{"worker", {"127.0.0.1:0"}}}, {.job = "worker", .config = {.listen = listen}});
  };
  CHECK_THAT(refused("0.0.0.0:0"), Catch::StartsWith("failed_precondition: others can reach 0.0.0.0:0"));
  CHECK_THAT(refused("here"),
             Catch::StartsWith("invalid_argument: ") && Catch::Contains("not on 'here' (server_config.listen)"));
}

TEST_CASE("a limit beyond what the clock can count is none") {
  const auto forever = std::chrono::milliseconds::max();
  server s(one_task, {.config = {.grace = forever, .stop_timeout = forever}});
  const auto y = constant(3.f) + 4.f;
  CHECK(float(session({.operation_timeout = forever}).run(y)) == 7);
  session there({.target = s.target(), .startup_timeout = forever, .operation_timeout = forever});
  CHECK(float(there.run(y)) == 7);
  CHECK(inspect(s.target(), {}, forever).state == "running");
  s.drain();
}

TEST_CASE("a heartbeat that no peer would take is refused") {
  const auto ms = GENERATE(0, 60'001);
  CHECK(refusal({{"local", {"127.0.0.1:0"}}}, {.config = {.heartbeat = std::chrono::milliseconds(ms)}}) ==
        "invalid_argument: a server's heartbeat is 1 ms to 60 s, not " + std::to_string(ms) +
            " ms (server_config.heartbeat)");
}

TEST_CASE("a host name that nobody knows is refused") {
  CHECK_THAT(refusal({{"local", {"no-such-host.invalid:0"}}}, {.security = {.key = "a secret of sixteen bytes"}}),
             Catch::StartsWith("invalid_argument: cannot listen on no-such-host.invalid:0: "));
}

// ---- what works

TEST_CASE("a server of a cluster with one job needs no options, and its port is its own") {
  fresh f;
  server first(one_task), second(one_task);
  CHECK(first.target() != second.target());
  CHECK(int(session(toward(first.target())).run(constant(3))) == 3);
}

TEST_CASE("a server may be named localhost") {
  fresh f;
  server s({{"local", {"localhost:0"}}});
  CHECK_THAT(s.target(), Catch::StartsWith("pinion://localhost:"));
  CHECK(int(session(toward(s.target())).run(constant(3))) == 3);
}

TEST_CASE("a sparse job has the tasks it says") {
  fresh f;
  const auto spec = free_addresses({{"a", 1}, {"b", 1}});
  const cluster_spec cluster{{"ps", {{0, spec.address("a", 0)}, {5, spec.address("b", 0)}}}};
  server first(cluster, {.job = "ps", .task = 0}), fifth(cluster, {.task = 5});
  CHECK(refusal(cluster, {.task = 1}) == "not_found: the cluster has no task 1 of job 'ps'; this job has tasks: 0, 5");
  auto x = place<"/job:ps/task:5">(constant(5));
  session sess{toward(first.target())};
  CHECK(int(sess.run(x)) == 5);
}

TEST_CASE("simulated accelerators of a server can be placed on") {
  fresh f;
  local_cluster local({{"ps", 1}, {"worker", 1}}, {.cpu_devices = 2, .simulated = {sim::gpu()}});
  const device on{"/job:worker/gpu:0"};
  auto v = variable(2.f, {.name = "v"});
  auto y = v * v;
  session sess{toward(local.target("ps", 0))};
  sess.run(v.initializer());
  CHECK(float(sess.run(y)) == 4);
  CHECK(sess.plan(y).device_of("v") == "/job:worker/replica:0/task:0/device:GPU:0");
  CHECK(sess.list_devices().size() == 6);
}

TEST_CASE("a local cluster may have one job") {
  local_cluster local{{{"worker", 2}}};
  CHECK(local.spec().num_tasks("worker") == 2);
}

TEST_CASE("a local cluster names its servers, and says what it has not") {
  local_cluster local{{{"ps", 1}, {"worker", 3}}};
  CHECK(local.spec().num_tasks("worker") == 3);
  CHECK(local.target("worker", 2) == "pinion://" + local.spec().address("worker", 2));
  CHECK(caught([&] { local.server("worker", 3); }).code() == errc::not_found);
}

// ---- being stopped

// Is the port free? A server takes it, then lets go.
bool is_free(const std::string& target) {
  return failure([&] { server again({{"local", {target.substr(9)}}}); }) == "internal: nothing was thrown";
}

TEST_CASE("a port is free after stop() and after the destructor, and stopping twice is harmless") {
  std::string target;
  {
    server s(one_task);
    target = s.target();
    CHECK_FALSE(is_free(target));
    s.stop();
    s.stop();
    CHECK(is_free(target));
  }
  CHECK(is_free(target));
}

TEST_CASE("join returns when another thread stops the server") {
  server s(one_task);
  std::thread stopper([&] { s.stop(); });
  s.join();
  stopper.join();
  s.join();
  CHECK(is_free(s.target()));
}

TEST_CASE("several may join a server") {
  server s(one_task);
  in_threads(3, [&](int t) { t == 0 ? s.stop() : s.join(); });
  CHECK(is_free(s.target()));
}

TEST_CASE("join returns after a shutdown from elsewhere") {
  server s(one_task);
  std::thread other([&] { shutdown(s.target()); });
  s.join();
  other.join();
  CHECK(is_free(s.target()));
}

TEST_CASE("a shutdown stops a server that nobody joins, and frees its port") {
  server s(one_task);
  shutdown(s.target());
  CHECK(is_free(s.target()));
  CHECK(caught([&] { shutdown(s.target()); }).code() == errc::unavailable);
}

TEST_CASE("a shutdown of a cluster stops all of it, and is refused by name where a task is not there") {
  local_cluster local{{{"ps", 2}, {"worker", 1}}};
  local.server("ps", 1).stop();
  const auto e = caught([&] { shutdown(local.spec()); });
  CHECK(e.code() == errc::unavailable);
  CHECK_THAT(e.what(), Catch::Contains(name_of("ps", 1)));
  CHECK(is_free(local.target("ps", 0)));
  CHECK(is_free(local.target("worker", 0)));
}

TEST_CASE("a cluster that was shut down can be started again on its ports") {
  fresh f;
  local_cluster local{{{"ps", 1}, {"worker", 1}}};
  shutdown(local.spec());
  server ps(local.spec(), {.job = "ps"}), worker(local.spec(), {.job = "worker"});
  auto x = place<"/job:ps/task:0">(constant(3));
  CHECK(int(session(toward(worker.target())).run(x)) == 3);
}

TEST_CASE("two tasks may not be mistaken for each other") {
  const auto spec = free_addresses({{"ps", 2}, {"worker", 1}});
  cluster_spec swapped{{"ps", {spec.address("ps", 1), spec.address("ps", 0)}}, {"worker", {spec.address("worker", 0)}}};
  server ps(swapped, {.job = "ps", .task = 0}), worker(spec, {.job = "worker"});
  fresh f;
  auto x = place<"/job:ps/task:1">(constant(3));
  const auto e = caught([&] { session(toward(worker.target())).run(x); });
  CHECK(e.code() == errc::failed_precondition);
  CHECK_THAT(e.what(), Catch::Contains(name_of("ps", 0)) && Catch::Contains(name_of("ps", 1)));
}

TEST_CASE("a step that runs when its server stops ends with unavailable, and names the server") {
  for (const char* stopped : {"ps", "worker"}) {
    local_cluster local{{{"ps", 1}, {"worker", 1}}};
    fresh f;
    auto begun = place<"/job:worker/task:0">(variable(0, {.name = "begun"}));
    auto work = group(assign_add(begun, 1), long_work("/job:ps/task:0"));
    session sess{toward(local.target("worker", 0))}, watcher{toward(local.target("worker", 0))};
    sess.run(begun.initializer());
    error e(errc::internal, "");
    std::thread runner([&] { e = caught([&] { sess.run(work); }); });
    CHECK(soon([&] { return int(watcher.run(begun)) == 1; }));
    local.server(stopped, 0).stop();
    runner.join();
    CHECK(e.code() == errc::unavailable);
    CHECK_THAT(e.what(), Catch::Contains(name_of(stopped, 0)));
  }
}

TEST_CASE("a session at a server that was stopped says so, and is closed in peace") {
  fresh f;
  auto c = constant(1);
  local_cluster local({{"worker", 1}});
  session used{toward(local.target("worker", 0))},
      unused{{.target = local.target("worker", 0), .startup_timeout = 200ms}};
  used.run(c);
  local.stop();
  CHECK(caught([&] { used.run(c); }).code() == errc::unavailable);
  CHECK(caught([&] { unused.run(c); }).code() == errc::deadline_exceeded);
}

TEST_CASE("sessions may outlive their server") {
  fresh f;
  auto c = constant(1);
  std::optional<session> sess;
  {
    local_cluster local{{{"ps", 1}, {"worker", 1}}};
    sess.emplace(toward(local.target("worker", 0)));
    sess->run(place<"/job:ps/task:0">(identity(c)));
  }
  CHECK(caught([&] { sess->run(c); }).code() == errc::unavailable);
  sess->close();
  CHECK(caught([&] { sess->run(c); }).code() == errc::failed_precondition);
}

// ---- leaving nothing behind

void start_run_and_stop(const cluster_spec& spec) {
  fresh f;
  server ps(spec, {.job = "ps"}), worker(spec, {.job = "worker"});
  auto v = place<"/job:ps/task:0">(variable(1.f, {.name = "v"}));
  auto y = v * 2.f;
  session sess{toward(worker.target())};
  sess.run(v.initializer());
  CHECK(float(sess.run(y)) == 2);
}

TEST_CASE("fifty starts and stops leak no thread, descriptor or port") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 1}});
  start_run_and_stop(spec);
  const int threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 50; ++i) start_run_and_stop(spec);
  CHECK(soon([&] { return entries("/proc/self/task") <= threads; }));
  CHECK(soon([&] { return entries("/proc/self/fd") <= descriptors; }));  // a channel is held for a heartbeat more
}

TEST_CASE("programs that a server's process starts do not hold its sockets") {
  local_cluster local{{{"ps", 1}, {"worker", 1}}};
  fresh f;
  CHECK(int(session(toward(local.target("worker", 0))).run(place<"/job:ps/task:0">(constant(1)))) == 1);
  process other({"/bin/sleep", "60"});
  int sockets = 0;
  std::error_code closed_meanwhile;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(other.id()) + "/fd"))
    sockets += std::filesystem::read_symlink(entry, closed_meanwhile).string().rfind("socket:", 0) == 0;
  CHECK(sockets == 0);
}

}  // namespace
