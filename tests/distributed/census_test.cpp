// All that a task has is counted before a client comes and after it has left without a word.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include <pinion/distributed/status/inspect.hpp>

#include <distributed/real_cluster.hpp>

namespace {

using namespace real;

// The mappings of this process that it shares with others.
int shared_mappings() {
  std::ifstream lines("/proc/self/maps");
  int n = 0;
  for (std::string line; std::getline(lines, line);) n += line.find("memfd:pinion") != line.npos;
  return n;
}

// What one task, and its process, have that clients may cause.
using census = std::map<std::string, std::uint64_t>;

census census_of(server& task) {
  const task_report r = task.report();
  return {{"sessions", r.sessions.size()},
          {"runs", r.runs.size()},
          {"steps under way", r.steps.running},
          {"parts under way", r.parts.running},
          {"clients", static_cast<std::uint64_t>(r.backlog.clients)},
          {"bytes not taken", r.backlog.bytes_waiting},
          {"bytes not worked off", r.backlog.bytes_received},
          {"values offered", r.backlog.values_offered},
          {"early values", r.backlog.values_early},
          {"graphs kept", r.backlog.graphs_kept},
          {"unsettled parts", r.backlog.parts_unsettled},
          {"sought tasks", r.backlog.tasks_sought},
          {"clients of metrics", static_cast<std::uint64_t>(r.backlog.metrics_clients)},
          {"lines held back", r.backlog.lines_untold},
          {"closures", static_cast<std::uint64_t>(r.pool.queued)},
          {"connections that share memory", r.shared.connections},
          {"slabs", r.shared.slabs},
          {"bytes of slabs", r.shared.slab_bytes},
          {"bytes lent", r.shared.bytes_lent},
          {"queues", r.queues.size()},
          {"variables", r.variable_count},
          {"mappings", static_cast<std::uint64_t>(shared_mappings())},
          {"descriptors", r.descriptors.open},
          {"threads", static_cast<std::uint64_t>(entries("/proc/self/task"))}};
}

// Whether nothing of a client is left but what is in queues and variables. Its runs end and its memory goes one after
// another; of that, the mappings may be the last.
bool at_rest(const census& now) {
  const auto none = [&](const char* what) { return now.at(what) == 0; };
  return none("runs") && none("parts under way") && none("clients") && none("bytes not worked off") &&
         none("connections that share memory");
}

// What there is more of than before, as a text; empty where there is nothing.
std::string more(const census& now, const census& before) {
  std::string text;
  for (const auto& [what, n] : now)
    if (n > before.at(what)) text += fmt::format("{} {}, before {}\n", n, what, before.at(what));
  return text;
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
  std::string left;
  soon([&] { return (left = more(census_of(t.task), before)).empty(); });
  CHECK(left == "");
}

}  // namespace
