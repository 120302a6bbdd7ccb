// A client that speaks the protocol and lies: what it registers, runs and cancels disturbs nobody but itself.
#include <catch2/catch.hpp>

#include <atomic>

#include <distributed/liar.hpp>

#include <pinion/device/pool_allocator.hpp>

namespace {

using namespace real;
using runtime::part_item;

// A graph of one constant, and parts of steps that mention it.
struct forgery : own_graph {
  node_id c = constant(tensor<float>({1, 2}), "c").id();
  std::vector<runtime::partition> parts = std::vector<runtime::partition>(1);

  part_item compute() const { return {.kind = part_item::compute, .node = c, .outputs = 1}; }
  part_item receive(const std::string& key) const {
    return {.kind = part_item::receive, .node = c, .key = key, .outputs = 1};
  }
  forgery& with(part_item it, std::size_t part = 0) {
    if (part == parts.size()) parts.emplace_back();
    parts[part].items.push_back(std::move(it));
    return *this;
  }
  distributed::register_step message(const distributed::session_id& session, std::uint64_t step) {
    return {session, step, distributed::cut(g, parts), {}, false};
  }
};
std::string to_itself(const std::string& device) {
  return "c:0;" + device + ";" + device;
}

constexpr std::uint64_t some_session = 77;
distributed::run_step run_of(const distributed::session_id& session, std::uint64_t step, std::uint64_t number = 1) {
  return {{session, number}, step, false};
}
distributed::register_step empty_step(const distributed::session_id& session, std::uint64_t step) {
  forgery f;
  return f.with(f.compute()).message(session, step);
}

// ---- feeds and fetches

TEST_CASE("S4: a part from a peer that has a feed or a fetch is refused, and the server goes on") {
  two_workers local;
  liar client(local.victim(), other_worker);
  forgery fetches, feeds;
  fetches.with(fetches.compute()).with({.kind = part_item::fetch, .node = fetches.c, .index = 5, .inputs = {{0, 0}}});
  feeds.with({.kind = part_item::feed, .node = feeds.c, .index = 9, .outputs = 1});
  for (forgery* f : {&fetches, &feeds}) {
    const auto e = caught([&] {
      client.ask(f->message(client.session(some_session), 1));
      client.ask<distributed::part_ended>(run_of(client.session(some_session), 1));
    });
    CHECK(e.code() == errc::invalid_argument);
    CHECK_THAT(e.what(), Catch::Contains("only the master's own task feeds and fetches") && Catch::Contains("'c'"));
  }
  CHECK(honest(local.victim()).run() == 3);
}

// ---- whose step it is

TEST_CASE("S4: a session is registered, run, cancelled and forgotten by the master that its name tells, and no other") {
  two_workers local;
  liar owner(local.victim(), other_worker);
  const auto session = owner.session(some_session);
  owner.ask(empty_step(session, 1));
  const std::string own = name_of("worker", 0);
  for (const auto& [who, life] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"", owner.incarnation}, {other_worker, owner.incarnation + 1}, {own, owner.incarnation}}) {
    CAPTURE(who);
    liar client(local.victim(), who, life);
    CHECK(caught([&] { client.ask(empty_step(session, 2)); }).code() == errc::permission_denied);
    CHECK(caught([&] { client.ask<distributed::part_ended>(run_of(session, 1, 1000)); }).code() ==
          errc::permission_denied);
    client.tell(distributed::cancel_run{{session, 1}, error(errc::cancelled, "a lie")});
    client.tell(distributed::forget_session{session});
  }
  CHECK_NOTHROW(owner.ask<distributed::part_ended>(run_of(session, 1)));
}

TEST_CASE("S4: a client that is no task of the cluster, or claims to be this task, has no session at a worker") {
  two_workers local;
  for (const std::string& who : {std::string(), name_of("chief", 0), name_of("worker", 0)}) {
    CAPTURE(who);
    liar client(local.victim(), who);
    CHECK(caught([&] { client.ask(empty_step(client.session(some_session), 1)); }).code() == errc::permission_denied);
  }
}

TEST_CASE("S4: two masters may use one number, and neither takes nor spoils what the other calls by it") {
  two_workers local;
  liar first(local.victim(), other_worker), second(local.victim(), other_worker);
  for (liar* of : {&first, &second}) of->ask(empty_step(of->session(some_session), 1));
  for (liar* of : {&first, &second}) {
    CHECK_NOTHROW(of->ask<distributed::part_ended>(run_of(of->session(some_session), 1)));
    of->tell(distributed::forget_session{of->session(some_session)});
  }
}

TEST_CASE("S4: a task that comes back by another connection is who it was") {
  two_workers local;
  liar first(local.victim(), other_worker, 5);
  first.ask(empty_step(first.session(some_session), 1));
  {
    liar again(local.victim(), other_worker, 5);
    CHECK_NOTHROW(again.ask(empty_step(again.session(some_session), 2)));
    CHECK_NOTHROW(again.ask<distributed::part_ended>(run_of(again.session(some_session), 1)));
  }
  // What belongs to a connection goes with it.
  CHECK(soon([&] {
    return caught([&] { first.ask<distributed::part_ended>(run_of(first.session(some_session), 1, 2)); }).code() ==
           errc::aborted;
  }));
}

TEST_CASE("S4: the handle of a session is 64 random bits") {
  two_workers local;
  liar client(local.victim());
  std::uint64_t ones = 0, zeros = 0;
  for (int i = 0; i < 40; ++i) {
    const auto handle = client.ask<distributed::opened_session>(distributed::open_session{}).session;
    ones |= handle;
    zeros |= ~handle;
    client.tell(distributed::close_session{handle});
  }
  CHECK(~ones == 0);
  CHECK(~zeros == 0);
}

TEST_CASE("S4: a session at a master is known to the client that opened it only") {
  local_cluster local{{{"worker", 1}}};
  honest good(local.target("worker", 0));
  liar client(local.target("worker", 0));
  const auto as_liar = [&](auto reply, const auto& request) {
    return caught([&] { client.ask<decltype(reply)>(request); }).code();
  };
  CHECK(as_liar(distributed::run_reply{}, distributed::run_prepared{good.session, good.step, 0, {}, false}) ==
        errc::aborted);
  CHECK(as_liar(nothing{}, distributed::extend_graph{good.session, {}}) == errc::aborted);
  CHECK(as_liar(distributed::list_reply{}, distributed::list_request{good.session, 0}) == errc::aborted);
  client.tell(distributed::cancel_runs{good.session, error(errc::cancelled, "a lie")});
  client.tell(distributed::close_session{good.session});
  CHECK(good.run() == 3);
}

TEST_CASE("R1: a run that a peer asks for begins once") {
  two_workers local;
  liar client(local.victim(), other_worker);
  const auto session = client.session(some_session);
  client.ask(empty_step(session, 1));
  CHECK_NOTHROW(client.ask<distributed::part_ended>(run_of(session, 1)));
  CHECK(caught([&] { client.ask<distributed::part_ended>(run_of(session, 1)); }).code() == errc::cancelled);
}

// ---- looked at before memory is taken

TEST_CASE("S5: feeds of a step that does not exist, or does not take them, take no memory, and the client goes on") {
  two_workers local;
  honest good(local.victim());
  const any_tensor large(dtype::uint8, {64 << 20});
  const std::string text(100'000, 'x');
  tensor<std::string> words({1});
  words.data()[0] = text;
  auto& pool = devices::pool_allocator::of_cpus();
  const auto before = pool.held();
  using distributed::run_prepared;
  const auto run = [&](const run_prepared& r) {
    return caught([&] { good.client.ask<distributed::run_reply>(r); }).code();
  };
  for (const bool is_long : {false, true}) {
    std::vector<any_tensor> feeds{large};
    if (is_long) feeds.push_back(words.untyped());
    CHECK(run({good.session, good.step + 1, 0, feeds, false}) == errc::not_found);
    CHECK(run({good.session + 1, good.step, 0, feeds, false}) == errc::aborted);
    CHECK(run({good.session, good.step, 0, feeds, false}) == errc::invalid_argument);
  }
  CHECK(pool.held() == before);
  CHECK(good.run() == 3);
}

// ---- limits

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

TEST_CASE(
    "L1: calls that wait for a task which is not there take a limited number of threads, until their client goes") {
  cluster_spec spec = free_addresses({{"worker", 1}, {"ps", 1}});
  server alone(spec, {.job = "worker", .config = limited({.threads = 8})});
  honest good(alone.target());
  const int before = entries("/proc/self/task");
  {
    own_graph mine;
    const device far{"/job:ps/task:0"};
    const auto there = constant(1.f);
    liar client(alone.target());
    const auto session = client.ask<distributed::opened_session>(distributed::open_session{}).session;
    client.ask(distributed::extend_graph{session, distributed::delta_since(mine.g)});
    for (int i = 0; i < 300; ++i)
      client.order(distributed::prepare_step{session, 0, {{}, {there.endpoint()}, {}}, false});
    client.ask(distributed::extend_graph{session, {static_cast<node_id>(mine.g.size()), {}, {}}});  // behind them all
    CHECK(entries("/proc/self/task") <= before + 2);  // a quarter of the threads
    honest another(alone.target());
    CHECK(another.run() == 3);
  }
  CHECK(soon([&] { return entries("/proc/self/task") <= before; }));
  CHECK(good.run() == 3);
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
  const std::uint64_t step = client.prepare(long_one.id());
  for (int i = 0; i < 20; ++i)
    client.client.order<distributed::run_reply>(distributed::run_prepared{client.session, step, 0, {}, false},
                                                [&](const outcome<distributed::run_reply>&) { ++ended; });
  client.client.ask<distributed::status_reply>(distributed::status_request{});  // then the runs have come
  for (int i = 0; i < 10; ++i) CHECK(good.run() == 3);
  CHECK(ended == 0);
  client.client.tell(distributed::cancel_runs{client.session, error(errc::cancelled, "enough")});
  CHECK(soon([&] { return ended == 20; }));
}

// ---- transfers

TEST_CASE("V1: two receives, or two sends, of one key in a registration are refused, in one part or two") {
  two_workers local({.cpu_devices = 2});
  liar client(local.victim(), other_worker);
  const auto session = client.session(some_session);
  const std::string key = to_itself(cpu_of("worker", 0));
  for (const std::size_t part : {0u, 1u}) {
    forgery received, sent;
    received.with(received.receive(key)).with(received.receive(key), part);
    const part_item send{.kind = part_item::send, .node = sent.c, .key = key};
    sent.with(sent.compute()).with(send).with(send, part);
    if (part == 1) received.parts[1].device = sent.parts[1].device = 1;
    for (forgery* f : {&received, &sent}) {
      const auto e = caught([&] {
        client.ask(f->message(session, 1));
        client.ask<distributed::part_ended>(run_of(session, 1));
      });
      CHECK(e.code() == errc::invalid_argument);
      CHECK_THAT(e.what(), Catch::Contains("twice") && Catch::Contains(key));
    }
  }
}

TEST_CASE("V1: what is received comes to this task, and what is sent leaves it for a task of the step") {
  two_workers local;
  liar client(local.victim(), other_worker);
  const std::string here = cpu_of("worker", 0), there = cpu_of("ps", 0);
  const auto registers = [&](part_item it) {
    forgery f;
    it.node = f.c;
    if (it.kind == part_item::send) f.with(f.compute());
    return caught([&] { client.ask(f.with(it).message(client.session(some_session), 1)); }).code();
  };
  const auto receive = [](const std::string& key) {
    return part_item{.kind = part_item::receive, .key = key, .outputs = 1};
  };
  const auto send = [](const std::string& key) { return part_item{.kind = part_item::send, .key = key}; };
  CHECK(registers(receive("c:0;" + there + ";" + there)) == errc::invalid_argument);
  CHECK(registers(receive("c:0;" + there + ";" + here)) == errc::invalid_argument);  // no peer of the step
  CHECK(registers(receive("nonsense")) == errc::invalid_argument);
  CHECK(registers(send("c:0;" + there + ";" + here)) == errc::invalid_argument);
  CHECK(registers(send("c:0;" + here + ";" + there)) == errc::invalid_argument);
  CHECK(registers(send("nonsense")) == errc::invalid_argument);
  part_item to_accelerator = send(to_itself(here));
  to_accelerator.peer = true;
  CHECK(registers(to_accelerator) == errc::invalid_argument);
}

}  // namespace
