// A client that speaks the protocol and lies: what it registers, runs and cancels disturbs nobody but itself.
#include <catch2/catch.hpp>

#include <distributed/real_cluster.hpp>

#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/waiting.hpp>
#include <pinion/rpc/security.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace real;
using distributed::nothing;
using runtime::part_item;

// A client of the protocol itself.
class liar {
 public:
  explicit liar(const std::string& target, const std::string& name = "", std::uint64_t incarnation = 0)
      : way_(std::make_shared<rpc::channel>(
            *net_, address_of_target(target), "",
            rpc::channel_options{.me = {name, incarnation ? incarnation : rpc::random_number()}, .allowed = {}})) {
    distributed::connect_and_wait(*net_, way_, {.what = {}, .until = soon()});
  }
  ~liar() {
    way_->close(error(errc::cancelled, "the client is done with it"));
    rpc::settle(*net_);
  }

  template <class Reply = nothing, class Request>
  Reply ask(const Request& request) {
    return distributed::ask_and_wait<Reply>(*net_, way_, request, {.what = {}, .until = soon()});
  }
  template <class Notice>
  void tell(const Notice& notice) {
    way_->notify(rpc::lane::data, Notice::method, rpc::encode(notice));
    ask<distributed::status_reply>(distributed::status_request{});  // then it has been read
  }

 private:
  time_point soon() const { return net_->now() + 20s; }
  const std::shared_ptr<rpc::network> net_ = rpc::tcp_network_of_this_process();
  const std::shared_ptr<rpc::channel> way_;
};

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
  distributed::register_step message(std::uint64_t session, std::uint64_t step) {
    return {session, step, distributed::cut(g, parts), {}, false};
  }
};
std::string to_itself(const std::string& device) {
  return "c:0;" + device + ";" + device;
}

constexpr std::uint64_t some_session = 77;
distributed::run_step run_of(std::uint64_t session, std::uint64_t step, std::uint64_t number = 1) {
  return {session, step, distributed::run_number(session, number), false};
}
distributed::register_step empty_step(std::uint64_t session, std::uint64_t step) {
  forgery f;
  return f.with(f.compute()).message(session, step);
}

// A session that an honest client has at the master of a task, and a step of it that fetches 3.
struct honest {
  liar client;
  std::uint64_t session = client.ask<distributed::opened_session>(distributed::open_session{}).session;
  std::uint64_t step = 0;

  explicit honest(const std::string& target) : client(target) {
    graph g;
    const auto use = g.as_default();
    const auto three = constant(3.f, "three");
    client.ask(distributed::extend_graph{session, distributed::delta_since(g)});
    step = client.ask<distributed::prepared_reply>(distributed::prepare_step{session, 0, {{}, {three.endpoint()}, {}}})
               .step;
  }
  float run() {
    const auto reply = client.ask<distributed::run_reply>(distributed::run_prepared{session, step, 0, {}, false});
    return reply.fetches.at(0).data<float>()[0];
  }
};

// ---- feeds and fetches

TEST_CASE("S4: a part from a peer that has a feed or a fetch is refused, and the server goes on") {
  local_cluster local{{{"worker", 1}}};
  liar client(local.target("worker", 0));
  forgery fetches, feeds;
  fetches.with(fetches.compute()).with({.kind = part_item::fetch, .node = fetches.c, .index = 5, .inputs = {{0, 0}}});
  feeds.with({.kind = part_item::feed, .node = feeds.c, .index = 9, .outputs = 1});
  for (forgery* f : {&fetches, &feeds}) {
    const auto e = caught([&] {
      client.ask(f->message(some_session, 1));
      client.ask<distributed::part_ended>(run_of(some_session, 1));
    });
    CHECK(e.code() == errc::invalid_argument);
    CHECK_THAT(e.what(), Catch::Contains("only the master's own task feeds and fetches") && Catch::Contains("'c'"));
  }
  CHECK(honest(local.target("worker", 0)).run() == 3);
}

// ---- whose step it is

TEST_CASE("S4: a step of a local master's session cannot be registered over, run, cancelled or forgotten by a peer") {
  local_cluster local{{{"worker", 1}}};
  honest good(local.target("worker", 0));
  liar client(local.target("worker", 0));
  CHECK(caught([&] { client.ask(empty_step(good.session, good.step)); }).code() == errc::permission_denied);
  CHECK(caught([&] { client.ask(empty_step(good.session, good.step + 1)); }).code() == errc::permission_denied);
  CHECK(caught([&] { client.ask<distributed::part_ended>(run_of(good.session, good.step, 1000)); }).code() ==
        errc::permission_denied);
  client.tell(distributed::cancel_run{distributed::run_number(good.session, 1), error(errc::cancelled, "a lie")});
  client.tell(distributed::forget_session{good.session});
  CHECK(good.run() == 3);
}

TEST_CASE("S4: a session belongs to the connection that registered its first step, until it goes") {
  local_cluster local{{{"worker", 1}}};
  liar other(local.target("worker", 0));
  auto run = [last = 0u](liar& by) mutable { by.ask<distributed::part_ended>(run_of(some_session, 1, ++last)); };
  {
    liar first(local.target("worker", 0));
    first.ask(empty_step(some_session, 1));
    first.ask(empty_step(some_session, 1));
    CHECK(caught([&] { other.ask(empty_step(some_session, 1)); }).code() == errc::permission_denied);
    CHECK(caught([&] { run(other); }).code() == errc::permission_denied);
    other.tell(distributed::forget_session{some_session});
    CHECK_NOTHROW(run(first));
  }
  CHECK(soon([&] { return caught([&] { other.ask(empty_step(some_session, 1)); }).code() == errc::internal; }));
  CHECK_NOTHROW(run(other));
}

TEST_CASE("S4: a task that comes back by another connection is who it was; in another life, or by another name, not") {
  local_cluster local{{{"worker", 1}}};
  const auto master = name_of("chief", 0);
  liar first(local.target("worker", 0), master, 5);
  first.ask(empty_step(some_session, 1));
  CHECK_NOTHROW(liar(local.target("worker", 0), master, 5).ask(empty_step(some_session, 1)));
  liar later(local.target("worker", 0), master, 6), other(local.target("worker", 0), name_of("chief", 1), 5);
  first.ask(empty_step(some_session, 1));
  CHECK(caught([&] { later.ask(empty_step(some_session, 1)); }).code() == errc::permission_denied);
  CHECK(caught([&] { other.ask(empty_step(some_session, 1)); }).code() == errc::permission_denied);
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

TEST_CASE("S4: the number of a run is one of its session, and begins once") {
  local_cluster local{{{"worker", 1}}};
  liar client(local.target("worker", 0));
  client.ask(empty_step(some_session, 1));
  const auto stranger = caught([&] {
    client.ask<distributed::part_ended>(distributed::run_step{some_session, 1, distributed::run_number(78, 1), false});
  });
  CHECK(stranger.code() == errc::invalid_argument);
  CHECK_NOTHROW(client.ask<distributed::part_ended>(run_of(some_session, 1)));
  CHECK(caught([&] { client.ask<distributed::part_ended>(run_of(some_session, 1)); }).code() == errc::cancelled);
}

// ---- transfers

TEST_CASE("V1: two receives, or two sends, of one key in a registration are refused, in one part or two") {
  local_cluster local({{"worker", 1}}, {.cpu_devices = 2});
  liar client(local.target("worker", 0));
  const std::string key = to_itself(cpu_of("worker", 0));
  for (const std::size_t part : {0u, 1u}) {
    forgery received, sent;
    received.with(received.receive(key)).with(received.receive(key), part);
    const part_item send{.kind = part_item::send, .node = sent.c, .key = key};
    sent.with(sent.compute()).with(send).with(send, part);
    if (part == 1) received.parts[1].device = sent.parts[1].device = 1;
    for (forgery* f : {&received, &sent}) {
      const auto e = caught([&] {
        client.ask(f->message(some_session, 1));
        client.ask<distributed::part_ended>(run_of(some_session, 1));
      });
      CHECK(e.code() == errc::invalid_argument);
      CHECK_THAT(e.what(), Catch::Contains("twice") && Catch::Contains(key));
    }
  }
}

TEST_CASE("V1: what is received comes to this task, and what is sent leaves it for a task of the step") {
  local_cluster local{{{"worker", 1}}};
  liar client(local.target("worker", 0));
  const std::string here = cpu_of("worker", 0), there = cpu_of("ps", 0);
  const auto registers = [&](part_item it) {
    forgery f;
    it.node = f.c;
    if (it.kind == part_item::send) f.with(f.compute());
    return caught([&] { client.ask(f.with(it).message(some_session, 1)); }).code();
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
