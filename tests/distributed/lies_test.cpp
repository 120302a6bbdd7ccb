// A client that speaks the protocol and lies: what it registers, runs and cancels disturbs nobody but itself.
#include <catch2/catch.hpp>

#include <distributed/forgery.hpp>
#include <distributed/real_cluster.hpp>

#include <pinion/device/pool_allocator.hpp>

namespace {

using namespace real;
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
  CHECK(pool.held() <= before);
  CHECK(good.run() == 3);
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
    const part_item send{.kind = part_item::send, .node = sent.c, .key = transfer_key(key)};
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
    return part_item{.kind = part_item::receive, .key = transfer_key(key), .outputs = 1};
  };
  const auto send = [](const std::string& key) { return part_item{.kind = part_item::send, .key = transfer_key(key)}; };
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
