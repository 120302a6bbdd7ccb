// All that a task has is counted before a client comes and after it has left without a word.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/distributed/status/inspect.hpp>
#include <pinion/distributed/status/metrics_server.hpp>

#include <distributed/census.hpp>
#include <distributed/real_cluster.hpp>
#include <programs/stranger.hpp>

namespace {

using namespace real;

// Whether nothing of a client is left but what is in queues and variables. Its runs end and its memory goes one after
// another; of that, the mappings may be the last.
bool at_rest(const census& now) {
  const auto none = [&](const char* what) { return now.at(what) == 0; };
  return none("runs") && none("parts under way") && none("clients") && none("bytes not worked off") &&
         none("connections that share memory");
}

// A task in this process, and what a client of another process has put into its queue.
struct visited_task {
  server task{{{"ps", {"127.0.0.1:0"}}}, {.job = "ps", .config = {.inter_op_threads = 2, .intra_op_threads = 1}}};
  own_graph f;
  fifo_queue<float> full = [] {
    const device on{"/task:0"};
    return fifo_queue<float>({.capacity = 100, .shapes = {{20'000}}, .name = "full"});
  }();
  expr<int> size = full.size();
  expr<float> get = full.dequeue();
  session inside{{.target = task.target()}};

  void expect_visit() {
    process client({PINION_TEST_LEAVING_CLIENT, task.target()});
    REQUIRE(client.line() == "ready");
    REQUIRE(soon([&] { return task.report().runs.size() == 3; }));
    CHECK(task.report().shared.connections == 3);
    client.signal(SIGKILL);
    CHECK(client.result() == -SIGKILL);
  }
};

TEST_CASE("L7: values that stay in a queue keep no memory of the client that has sent them, and are as they were") {
  visited_task t;
  t.expect_visit();
  CHECK(soon([&] { return t.task.report().shared.connections == 0; }));
  REQUIRE(int(t.inside.run(t.size)) == 3);
  CHECK(t.inside.run(t.get) == tensor<float>({20'000}, std::vector<float>(20'000, 1.0f)));
}

TEST_CASE("L7: values that stay in a queue keep no slab of the task that has sent them") {
  constexpr std::int64_t n = 1'000'000;
  own_graph f;
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  server worker{spec, {.job = "worker"}};
  task_process ps{spec, "ps", 0};
  const auto number = placeholder<float>({}, "number");
  expr<float> there;
  {
    const device on{"/job:ps/task:0"};
    there = zeros<float>({n}) + number;
  }
  const device on{"/job:worker/task:0"};
  const fifo_queue<float> q({.capacity = 10, .shapes = {{n}}, .name = "q"});
  const operation put = q.enqueue(there);
  const expr<float> get = q.dequeue();
  session sess{toward(worker.target())};
  for (const float x : {1.0f, 2.0f}) sess.run({{number, tensor<float>(x)}}, put);
  const auto shared = [&] { return worker.report().shared; };
  CHECK(shared().slabs > 0);
  CHECK(shared().slab_bytes >= n * sizeof(float));
  ps.signal(SIGKILL);
  CHECK(soon([&] { return shared().slabs == 0 && shared().connections == 0; }));
  CHECK(shared().slab_bytes == 0);
  for (const float x : {1.0f, 2.0f}) CHECK(sess.run(get) == tensor<float>({n}, std::vector<float>(n, x)));
}

TEST_CASE("L1: a client that leaves without a word leaves nothing but what is in queues and variables") {
  visited_task t;
  const auto leave_none = [&] {
    while (int(t.inside.run(t.size)) > 0) t.inside.run(t.get);
  };
  t.expect_visit();  // threads and buffers that stay are there after a first one
  leave_none();
  census before;
  REQUIRE(soon([&] { return at_rest(before = census_of(t.task)); }));
  for (int i = 0; i < 3; ++i) {
    t.expect_visit();
    leave_none();
  }
  CHECK(left_behind(t.task, before) == "");
}

// Whether more bytes of the heap are in use when `visit` was made n times, and then as often again, than a few of each
// visit. What is kept for later, as pools are, is there after the first half; what goes later is waited for.
template <class Visit>
bool leaves_memory(int n, const Visit& visit) {
  for (int i = 0; i < n; ++i) visit();
  const std::uint64_t before = heap_in_use();
  for (int i = 0; i < n; ++i) visit();
  return !soon([&] { return heap_in_use() < before + static_cast<std::uint64_t>(n) * 1024; });
}

TEST_CASE("L1: strangers at the ports of a task leave nothing, not even memory") {
  server task{{{"ps", {"127.0.0.1:0"}}}, {.job = "ps"}};
  metrics_server metrics(task);
  const auto visit = [&] {
    for (const std::string& at : {address_of_target(task.target()), metrics.address()}) {
      const stranger silent(at), half(at), wrong(at), one(at);
      CHECK(half.say("GET /hea"));
      CHECK(wrong.say(std::string(100, '\xff')));
      (void)one.say("GET /metrics HTTP/1.1\r\n\r\n");
    }
    CHECK(soon([&] { return task.report().backlog.metrics_clients == 0; }));
  };
  visit();
  const census before = census_of(task);
  CHECK_FALSE(leaves_memory(20, visit));
  CHECK(left_behind(task, before) == "");
}

TEST_CASE("L1: tasks that join and leave leave nothing, not even memory") {
  const server_config elastic{.elastic = true};
  local_cluster cluster{{{"ps", 1}, {"worker", 1}}, elastic};
  server& task = cluster.server("ps", 0);
  const std::size_t known = task.report().peers.size();
  const auto visit = [&] {
    cluster_spec spec{{"ps", {address_of_target(task.target())}}};
    spec.add_task("worker", 3, "127.0.0.1:0");
    {
      const server joins(spec, {.job = "worker", .task = 3, .config = elastic});
      REQUIRE(soon([&] { return task.report().peers.size() > known; }));
    }
    REQUIRE(soon([&] { return task.report().peers.size() == known; }));
  };
  visit();
  const census before = census_of(task);
  CHECK_FALSE(leaves_memory(150, visit));  // ways to the last 64 tasks that have left are kept
  CHECK(left_behind(task, before) == "");
}

}  // namespace
