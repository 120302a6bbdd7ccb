// The limits that a server sets its clients: what exceeds one is refused with a sentence that names it, and all go on.
#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include <pinion/device/pool_allocator.hpp>

#include <distributed/forgery.hpp>
#include <distributed/lies.hpp>
#include <distributed/real_cluster.hpp>

#include <support/ends.hpp>
#include <support/passing_op.hpp>

namespace {

using namespace real;

server_config limited(const server_limits& most) {
  server_config config;
  config.limits = most;
  return config;
}
// Was a request refused since a limit was reached, by a sentence with the name of the limit?
bool refused_by(const error& e, const std::string& limit) {
  return e.code() == errc::resource_exhausted &&
         e.sentence().find("server_config.limits." + limit) != std::string::npos;
}

TEST_CASE("L1: one client has a limited number of sessions, and so have all") {
  two_workers local(limited({.sessions = 2, .sessions_of_all = 3}));
  const distributed::open_session open;
  using distributed::opened_session;
  liar client(local.victim());
  const auto first = client.ask<opened_session>(open).session;
  client.ask<opened_session>(open);
  CHECK(refused_by(caught([&] { client.ask<opened_session>(open); }), "sessions)"));
  {
    liar other(local.victim());
    other.ask<opened_session>(open);
    CHECK(refused_by(caught([&] { other.ask<opened_session>(open); }), "sessions_of_all"));
  }
  CHECK(soon([&] {
    liar later(local.victim());
    return !refused_by(caught([&] { later.ask<opened_session>(open); }), "sessions_of_all");
  }));
  client.tell(distributed::close_session{first});
  CHECK_NOTHROW(client.ask<opened_session>(open));
}

// A client with a session and a graph of so many constants.
struct builder_of_nodes : own_graph {
  liar client;
  std::uint64_t session = client.ask<distributed::opened_session>(distributed::open_session{}).session;
  distributed::shipped told;

  explicit builder_of_nodes(const std::string& target) : client(target) {}
  void add(int nodes) {
    for (int i = 0; i < nodes; ++i) constant(1.f);
    auto more = distributed::delta_since(g, told);
    client.ask(distributed::extend_graph{session, more});
    told.add(more);
  }
  std::uint64_t prepare(node_id id) {
    return client
        .ask<distributed::prepared_reply>(distributed::prepare_step{session, 0, {{}, {output{id, 0}}, {}}, false})
        .step;
  }
};

TEST_CASE("L1: a graph has a limited number of nodes; one too many is refused, and the session goes on") {
  two_workers local(limited({.nodes = 10}));
  builder_of_nodes client(local.victim());
  client.add(10);
  CHECK(refused_by(caught([&] { client.add(1); }), "nodes"));
  CHECK_NOTHROW(client.prepare(9));
}

TEST_CASE("L2: a message that the network's thread reads has at most 128 KiB of control; the task serves on") {
  two_workers local;
  const std::string long_name(2 * rpc::long_control, 'x');
  const auto refused = [&](rpc::method what, rpc::message m, bool is_request) {
    const auto why = liar(local.victim()).say(what, std::move(m), is_request);
    return why && why->sentence().find(" bytes of control; the limit is 131072") != std::string::npos;
  };
  CHECK(refused(distributed::reset_containers::method, rpc::encode(distributed::reset_containers{{long_name}}), true));
  CHECK(refused(distributed::reset_request::method, rpc::encode(distributed::reset_request{{long_name}}), true));
  CHECK(
      refused(distributed::open_session::method, rpc::encode(distributed::open_session{.filters = {long_name}}), true));
  CHECK(refused(distributed::introduce_task::method, rpc::encode(distributed::introduce_task{long_name, "h:1", 1}),
                false));
  CHECK(honest(local.victim()).run() == 3);
}

TEST_CASE("L1: the nodes of bodies count, those of bodies in bodies too") {
  two_workers local(limited({.nodes = 30}));
  builder_of_nodes client(local.victim());
  client.add(10);
  const auto p = constant(true), q = constant(false);
  const auto many = [] {
    auto x = constant(0.f);
    for (int i = 0; i < 20; ++i) x = constant(1.f);
    return x;
  };
  cond(
      p, [&] { return cond(q, many, [] { return constant(2.f); }); }, [] { return constant(3.f); });
  CHECK(refused_by(caught([&] { client.add(0); }), "nodes"));
  CHECK_NOTHROW(client.prepare(9));
}

TEST_CASE("L1: graphs and steps of a session take limited memory, whatever their bytes on the wire") {
  two_workers local(limited({.session_bytes = 1 << 20}));
  builder_of_nodes client(local.victim());
  client.add(100);
  CHECK(refused_by(caught([&] { client.add(5000); }), "session_bytes"));
  const auto e = caught([&] {
    for (node_id i = 0; i < 100; ++i)
      for (int again = 0; again < 100; ++again) client.prepare(i);
  });
  CHECK(refused_by(e, "session_bytes"));
}

TEST_CASE("L1: a session has a limited number of steps") {
  two_workers local(limited({.steps = 3}));
  builder_of_nodes client(local.victim());
  client.add(4);
  for (node_id i = 0; i < 3; ++i) client.prepare(i);
  CHECK(refused_by(caught([&] { client.prepare(3); }), "steps"));
  liar peer(local.victim(), other_worker);
  for (std::uint64_t i = 0; i < 3; ++i) peer.ask(empty_step(peer.session(some_session), i));
  CHECK(refused_by(caught([&] { peer.ask(empty_step(peer.session(some_session), 3)); }), "steps"));
}

// A client whose steps need a task of the job ps, which is not there.
struct waiting_client : builder_of_nodes {
  const device far{"/job:ps/task:0"};
  expr<float> there = constant(1.f);

  explicit waiting_client(const std::string& target) : builder_of_nodes(target) { add(0); }
  distributed::prepare_step fetching(std::vector<output> all) const {
    return {session, 0, {{}, std::move(all), {}}, false};
  }
};

TEST_CASE(
    "L1: calls that wait for a task which is not there take a limited number of threads, until their client goes") {
  cluster_spec spec = free_addresses({{"worker", 1}, {"ps", 1}});
  server alone(spec, {.job = "worker", .config = limited({.threads = 8})});
  honest good(alone.target());
  const int before = entries("/proc/self/task");
  {
    waiting_client client(alone.target());
    for (int i = 0; i < 300; ++i) client.client.order(client.fetching({end_of(client.there)}));
    client.add(0);                                    // behind them all
    CHECK(entries("/proc/self/task") <= before + 2);  // a quarter of the threads
    honest another(alone.target());
    CHECK(another.run() == 3);
  }
  CHECK(soon([&] { return entries("/proc/self/task") <= before; }));
  CHECK(good.run() == 3);
}

TEST_CASE("L1: calls that wait for a task which is not there count among the bytes of their client") {
  cluster_spec spec = free_addresses({{"worker", 1}, {"ps", 1}});
  server alone(spec, {.job = "worker", .config = limited({.threads = 8, .bytes_received = 1 << 20})});
  waiting_client client(alone.target());
  const auto large = client.fetching(std::vector<output>(40'000, end_of(client.there)));  // 320 KB
  for (int i = 0; i < 3; ++i) {
    client.client.order(large);
    client.add(0);  // behind it
  }
  CHECK(refused_by(caught([&] { client.client.ask<distributed::prepared_reply>(large); }), "bytes_received)"));
  CHECK(honest(alone.target()).run() == 3);
}

// A client with a step that is fed two megabytes, and goes on until it is cancelled.
struct endless_client : builder_of_nodes {
  expr<float> x = placeholder<float>({1 << 19}, "x");
  expr<float> sum = reduce_sum(x) + reduce_sum(long_work("/job:worker/task:0"));
  std::uint64_t step = 0;

  explicit endless_client(const std::string& target) : builder_of_nodes(target) {
    add(0);
    step = client
               .ask<distributed::prepared_reply>(
                   distributed::prepare_step{session, 0, {{end_of(x)}, {end_of(sum)}, {}}, false})
               .step;
  }
  distributed::run_prepared run() const { return {session, step, 0, {any_tensor(dtype::float32, {1 << 19})}, false}; }
  // Begins a run, and returns when it has come.
  void begin() {
    client.order<distributed::run_reply>(run());
    await_coming();
  }
  // Returns when the run before has come: a small message would overtake it, and one as long does not.
  void await_coming() {
    auto none = run();
    none.step = 12345;
    caught([&] { client.ask<distributed::run_reply>(none); });
  }
  error refused() {
    return caught([&] { client.ask<distributed::run_reply>(run()); });
  }
  void cancel() { client.tell(distributed::cancel_runs{session, error(errc::cancelled, "enough")}); }
  // Is another run taken, soon after those that went on were cancelled?
  bool goes_on(const std::string& limit) {
    return soon([&] {
      std::promise<error> how;
      client.order<distributed::run_reply>(
          run(), [&](const outcome<distributed::run_reply>& ran) { how.set_value(*ran.failure()); });
      await_coming();
      cancel();
      return !refused_by(how.get_future().get(), limit);
    });
  }
};

TEST_CASE("L1: one client has a limited number of runs, and so have all") {
  two_workers local(limited({.runs = 2, .runs_of_all = 3}));
  endless_client first(local.victim()), second(local.victim());
  first.begin();
  first.begin();
  CHECK(refused_by(first.refused(), "runs)"));
  second.begin();
  CHECK(refused_by(second.refused(), "runs_of_all)"));
  first.cancel();
  CHECK(first.goes_on("runs"));
  second.cancel();
  CHECK(honest(local.victim()).run() == 3);
}

TEST_CASE("L1: a partial run counts as long as its client keeps it, also when all of it has run") {
  two_workers local(limited({.runs = 2}));
  liar client(local.victim());
  own_session own(client);
  const auto begin = [&, step = own.partial_step(client)] {
    return client.ask<distributed::partial_run_begun>(distributed::begin_partial_run{own.session, step, 0}).run;
  };
  const std::uint64_t one = begin(), two = begin();
  client.ask<distributed::partial_run_continued>(
      distributed::continue_partial_run{own.session, two, 0, {0, 1}, {0, 1}, {}, own_session::feeds()});
  CHECK(refused_by(caught([&] { begin(); }), "runs)"));
  client.tell(distributed::end_partial_run{own.session, two});
  CHECK(soon([&] { return outcome_of(begin).ok(); }));
  CHECK(client
            .ask<distributed::partial_run_continued>(
                distributed::continue_partial_run{own.session, one, 0, {0, 1}, {0}, {}, own_session::feeds()})
            .fetches.size() == 1);
}

TEST_CASE("L1: the runs of other tasks count among those of all") {
  two_workers local(limited({.runs = 1, .runs_of_all = 2}));
  const std::uint64_t life = local.life_of_second();
  liar peer(local.victim(), other_worker, life);
  const auto session = peer.session(some_session);
  forgery f;
  f.with(f.receive("c:0;" + cpu_of("worker", 1) + ";" + cpu_of("worker", 0)));
  auto waits = f.message(session, 1);
  waits.peers = {{other_worker, life}};
  peer.ask(waits);
  for (std::uint64_t run = 1; run <= 2; ++run) peer.order<distributed::part_ended>(run_of(session, 1, run));
  CHECK(refused_by(caught([&] { peer.ask<distributed::part_ended>(run_of(session, 1, 3)); }), "runs_of_all)"));
  peer.tell(distributed::cancel_run{{session, 1}, error(errc::cancelled, "enough")});
  CHECK(soon([&] {
    const auto e = caught([&] { peer.ask<distributed::part_ended>(run_of(session, 99, 4)); });
    return e.code() == errc::aborted;  // no such step, but there is room for its run
  }));
}

TEST_CASE("L1: the bytes of one client that are not worked off are limited, and so are those of all") {
  two_workers local(limited({.bytes_received = 7 << 19, .bytes_received_of_all = 11 << 19}));
  endless_client first(local.victim()), second(local.victim()), third(local.victim());
  first.begin();
  CHECK(refused_by(first.refused(), "bytes_received)"));
  second.begin();
  CHECK(refused_by(third.refused(), "bytes_received_of_all)"));
  first.cancel();
  CHECK(first.goes_on("bytes_received"));
  second.cancel();
  CHECK(honest(local.victim()).run() == 3);
}

TEST_CASE("L1: the graphs and steps of all sessions take limited memory, at their master and at a worker") {
  two_workers local(limited({.session_bytes_of_all = 1 << 20}));
  {
    builder_of_nodes first(local.victim()), second(local.victim());
    first.add(300);
    CHECK(refused_by(caught([&] { second.add(1000); }), "session_bytes_of_all)"));
    CHECK(honest(local.victim()).run() == 3);
  }
  CHECK(soon([&] {
    builder_of_nodes later(local.victim());
    return !refused_by(caught([&] { later.add(300); }), "session_bytes_of_all)");
  }));
  liar peer(local.victim(), other_worker);
  const auto e = caught([&] {
    for (std::uint64_t i = 0; i < 10'000; ++i) peer.ask(empty_step(peer.session(some_session + i % 7), i));
  });
  CHECK(refused_by(e, "session_bytes_of_all)"));
}

TEST_CASE("L1: a message that takes more memory than a session may is refused by what it announces") {
  two_workers local(limited({.session_bytes = 1 << 20}));
  builder_of_nodes client(local.victim());
  constant(tensor<float>({1 << 20}));
  const auto delta = distributed::delta_since(client.g, client.told);
  auto& pool = devices::pool_allocator::of_cpus();
  const auto before = pool.held();
  const auto e = caught([&] { client.client.ask(distributed::extend_graph{client.session, delta}); });
  CHECK(refused_by(e, "session_bytes)"));
  CHECK(pool.held() <= before);  // servers of other tests may give something back meanwhile
  CHECK(caught([&] {
          client.client.ask(distributed::extend_graph{client.session + 1, delta});
        }).code() == errc::aborted);
}

TEST_CASE("V5: a run for which too many values came before it began fails with the limit, and others go on") {
  two_workers local(limited({.early_values = 10}));
  liar peer(local.victim(), other_worker);
  const auto session = peer.session(some_session);
  peer.ask(empty_step(session, 1));
  const auto push = [&](std::uint64_t run, int i) {
    const transfer_key key(std::to_string(i) + ";" + cpu_of("worker", 1) + ";" + cpu_of("worker", 0));
    peer.tell(distributed::push_value{{session, run}, key, tensor<float>(1.f).untyped()});
  };
  for (int i = 0; i < 11; ++i) push(1, i);
  CHECK_NOTHROW(peer.ask<distributed::part_ended>(run_of(session, 1, 2)));
  CHECK(refused_by(caught([&] { peer.ask<distributed::part_ended>(run_of(session, 1, 1)); }), "early_values)"));
  CHECK(caught([&] { peer.ask<distributed::part_ended>(run_of(session, 1, 1)); }).code() == errc::cancelled);
  for (int i = 0; i < 10; ++i) push(3, i);  // there is room again
  CHECK_FALSE(refused_by(caught([&] { peer.ask<distributed::part_ended>(run_of(session, 1, 3)); }), "early_values)"));
  CHECK(honest(local.victim()).run() == 3);
}

TEST_CASE("V5: one that takes the name of a task counts for itself, and the values of the task wait and come") {
  two_workers local(limited({.early_values = 10}));
  liar thief(local.victim(), other_worker), peer(local.victim(), other_worker);
  const auto push = [&](liar& by, std::uint64_t run, int i) {
    const transfer_key key(std::to_string(i) + ";" + cpu_of("worker", 1) + ";" + cpu_of("worker", 0));
    by.note(distributed::push_value{{peer.session(some_session), run}, key, tensor<float>(1.f).untyped()});
  };
  for (int i = 0; i < 10; ++i) push(thief, 7, i);
  for (std::uint64_t run = 10; run < 20; ++run) push(thief, run, 0);
  thief.ask<distributed::status_reply>(distributed::status_request{});
  peer.ask(empty_step(peer.session(some_session), 1));
  for (int i = 0; i < 10; ++i) push(peer, 1, i);
  peer.ask<distributed::status_reply>(distributed::status_request{});
  const auto e = caught([&] { peer.ask<distributed::part_ended>(run_of(peer.session(some_session), 1, 1)); });
  CHECK_FALSE(refused_by(e, "early_values)"));
}

TEST_CASE("V5: a client that takes a task's own name sends it no values") {
  two_workers local;
  liar self(local.victim(), name_of("worker", 0));
  const transfer_key key("c:0;" + cpu_of("worker", 0) + ";" + cpu_of("worker", 0));
  const distributed::push_value value{{self.session(some_session), 1}, key, tensor<float>(1.f).untyped()};
  const auto e = self.say(distributed::push_value::method, rpc::encode(value), false);
  REQUIRE(e);
  CHECK(e->code() == errc::permission_denied);
  CHECK(honest(local.victim()).run() == 3);
}

TEST_CASE("V7: the strings of a value that nobody wants are not read") {
  two_workers local;
  liar peer(local.victim(), other_worker);
  const transfer_key key("c:0;" + cpu_of("worker", 1) + ";" + cpu_of("worker", 0));
  const auto cut_off = [&](std::uint64_t run) {
    const auto words = tensor<std::string>::of({{"two", "words"}}).untyped();
    auto m = rpc::encode(distributed::push_value{{peer.session(some_session), run}, key, words});
    m.control.pop_back();
    return peer.say(distributed::push_value::method, std::move(m), false);
  };
  peer.ask(empty_step(peer.session(some_session), 1));
  peer.ask<distributed::part_ended>(run_of(peer.session(some_session), 1, 1));
  CHECK_FALSE(cut_off(1));  // the run is over
  const auto e = cut_off(2);
  REQUIRE(e);
  CHECK(e->code() == errc::data_loss);
}

// Something that a test holds up until it is opened, while the kernel below is made.
std::shared_ptr<countdown> made_slowly, go_on;
struct made_when_told : passing_op {
  static constexpr std::string_view name = "MadeWhenTold";
  static std::unique_ptr<kernel> make_kernel(const kernel_setup&) {
    made_slowly->count_down();
    go_on->wait();
    return make_function_kernel(pass_on);
  }
};

TEST_CASE("L1: a step that was to be registered by a connection that is gone counts no more, when its master is back") {
  made_slowly = std::make_shared<countdown>();
  go_on = std::make_shared<countdown>();
  two_workers local(limited({.sessions_of_all = 1, .steps = 3}));
  constexpr std::uint64_t life = 5;
  std::optional<liar> again;
  const distributed::session_id session{other_worker, life, some_session};
  {
    liar first(local.victim(), other_worker, life);
    first.ask<distributed::opened_session>(distributed::open_session{});
    forgery slow;
    const auto k = constant(1.f, "k");
    slow.with({.kind = part_item::compute, .node = id_of(k), .outputs = 1});
    slow.with({.kind = part_item::compute, .node = id_of(call<made_when_told>(k)), .inputs = {{0, 0}}, .outputs = 1});
    first.order(slow.message(session, 1));
    REQUIRE(made_slowly->wait(std::chrono::steady_clock::now() + 20s));
    first.order(empty_step(session, 2));  // behind it
    first.ask<distributed::status_reply>(distributed::status_request{});
    again.emplace(local.victim(), other_worker, life);
    again->order(empty_step(session, 3));
    again->ask<distributed::status_reply>(distributed::status_request{});
  }
  CHECK(soon([&] {  // it is gone when another may have its session
    return caught([&] { again->ask<distributed::opened_session>(distributed::open_session{}); }).code() ==
           errc::internal;
  }));
  go_on->count_down();
  CHECK(soon([&] {
    const auto e = caught([&] { again->ask(empty_step(session, 4)); });
    return !refused_by(e, "steps");
  }));
}

// ---- shares

TEST_CASE("L3: steps of one session that hold all threads for long do not hold up the steps of another") {
  server_config config;
  config.inter_op_threads = config.intra_op_threads = 1;
  two_workers local(config);
  honest good(local.victim());
  std::atomic<int> ended{0};
  builder_of_nodes client(local.victim());
  const auto long_one = long_work("/job:worker/task:0");
  client.add(0);
  const std::uint64_t step = client.prepare(id_of(long_one));
  for (int i = 0; i < 20; ++i)
    client.client.order<distributed::run_reply>(distributed::run_prepared{client.session, step, 0, {}, false},
                                                [&](const outcome<distributed::run_reply>&) { ++ended; });
  client.client.ask<distributed::status_reply>(distributed::status_request{});  // then the runs have come
  for (int i = 0; i < 10; ++i) CHECK(good.run() == 3);
  CHECK(ended == 0);
  client.client.tell(distributed::cancel_runs{client.session, error(errc::cancelled, "enough")});
  CHECK(soon([&] { return ended == 20; }));
}

// A client with sessions that each have a step which yields one number, and takes hours, though all values are small.
struct crowd : own_graph {
  std::atomic<int> ended{0};
  liar client;
  std::vector<std::uint64_t> sessions;

  crowd(const std::string& target, int count) : client(target) {
    const auto along = [](int axis) {
      shape s{1, 1, 1, 1};
      s.set(axis, 1024);
      return constant(tensor<float>(s));
    };
    const auto all = reduce_sum(along(0) * along(1) * along(2) * along(3));
    for (int i = 0; i < count; ++i) {
      sessions.push_back(client.ask<distributed::opened_session>(distributed::open_session{}).session);
      client.ask(distributed::extend_graph{sessions.back(), distributed::delta_since(g)});
      const auto step = client.ask<distributed::prepared_reply>(
          distributed::prepare_step{sessions.back(), 0, {{}, {end_of(all)}, {}}});
      client.order<distributed::run_reply>(distributed::run_prepared{sessions.back(), step.step, 0, {}, false},
                                           [this](const outcome<distributed::run_reply>&) { ++ended; });
    }
    client.ask<distributed::status_reply>(distributed::status_request{});  // then the runs have come
  }
};

TEST_CASE("L3: a client with many sessions has the share of one, its long kernels end when they are cancelled") {
  server_config config;
  config.inter_op_threads = config.intra_op_threads = 1;
  config.limits.threads = 4;
  two_workers local(config);
  builder_of_nodes good(local.victim());
  const auto sum = reduce_sum(random_uniform<float>({100'000}));
  good.add(0);
  const std::uint64_t step = good.prepare(id_of(sum));
  crowd many(local.victim(), 8);
  for (int i = 0; i < 3; ++i)
    CHECK(good.client.ask<distributed::run_reply>(distributed::run_prepared{good.session, step, 0, {}, false})
              .fetches.size() == 1);
  CHECK(many.ended == 0);
  for (const auto session : many.sessions)
    many.client.tell(distributed::cancel_runs{session, error(errc::cancelled, "enough")});
  CHECK(soon([&] { return many.ended == 8; }));
}

}  // namespace
