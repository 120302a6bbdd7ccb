// Values between tasks: pushed within the credit, announced and pulled beyond it, kept for nobody.
#include <catch2/catch.hpp>

#include <set>

#include <pinion/base/inline_run.hpp>
#include <pinion/device/pool_allocator.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/netsim/sim_network.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/security/security.hpp>

#include <distributed/sim_cluster.hpp>
#include <rpc/coroutines.hpp>

namespace {

using namespace pinion_tests;
using namespace pinion::distributed;

const session_id some_session{"a master", 3, 77};
const run_id run_1{some_session, 1}, run_2{some_session, 2};

// A task that only exchanges values.
struct task_exchange {
  std::shared_ptr<sim_network> net;
  std::string name;
  rpc::identity me{name, random_number()};
  peers others;
  thread_pool pool{0};
  distributed::exchange values;
  std::shared_ptr<rpc::acceptor> listening;
  peer_ref last_peer;
  int pulls = 0;  // by others

  task_exchange(std::shared_ptr<sim_network> host, const std::string& task, const cluster_spec& spec,
                exchange_options how)
      : net(std::move(host)),
        name(task),
        others(*net, spec, {.me = me, .allowed = {}}),
        values(*net, name, others, pool, how),
        listening(std::make_shared<rpc::acceptor>(*net, net->listen(host_of(task) + ":2222"),
                                                  rpc::acceptor_options{.me = me, .allowed = {}}, service())) {
    listening->start();
  }
  ~task_exchange() {
    countdown stopped;
    const error why(errc::unavailable, name + " was stopped");
    listening->stop(why, [&] {
      others.close(why);
      net->post([&] { net->post([&] { stopped.count_down(); }); });
    });
    net->wait(stopped, {});
  }

 private:
  rpc::service service() {
    return {.request =
                [this](const envelope& e, responder to, const peer_ref& from) {
                  ++pulls;
                  return values.pulled(e, from, std::make_shared<responder>(std::move(to)));
                },
            .notice = [this](const envelope& e, const peer_ref& from) { return notice(e, from); },
            .came = [this](const peer_ref& who) { values.came(last_peer = who); },
            .gone = [this](const peer_ref& who, const error& why) { values.gone(who, why); }};
  }
  std::unique_ptr<incoming> notice(const envelope& e, const peer_ref& from) {
    if (e.method == push_value::method) return values.pushed(e, from);
    if (e.method == announce_value::method) return values.announced(e, from);
    return values.credited(e, from);
  }
};

struct two_exchanges {
  sim_network world;
  cluster_spec spec{{"ps", {host_of(ps_task(0)) + ":2222"}}, {"worker", {host_of(worker_task(0)) + ":2222"}}};
  std::shared_ptr<sim_network> a_host = world.host(host_of(ps_task(0))), b_host = world.host(host_of(worker_task(0)));
  std::vector<std::string> failures, got;  // of runs; of receivers, in the order in which they came
  std::unique_ptr<task_exchange> a, b;

  explicit two_exchanges(std::uint64_t credit = 1000, const sim_options& how = {},
                         exchange_options limits = {.runs = {.tombstones = 10, .early = 20}})
      : world(how) {
    limits.credit = credit;
    a = std::make_unique<task_exchange>(a_host, ps_task(0), spec, limits);
    b = std::make_unique<task_exchange>(b_host, worker_task(0), spec, limits);
    connect();
  }
  void connect() {
    a->values.route_to(worker_task(0))->connect(world.now() + 1s, [](outcome<>) {});
    b->values.route_to(ps_task(0))->connect(world.now() + 1s, [](outcome<>) {});
    world.run_for(100ms);
  }
  std::shared_ptr<remote_rendezvous> begin(task_exchange& at, const run_id& run = run_1,
                                           std::shared_ptr<const awaited_values> awaited = nullptr) {
    const task_exchange& other = &at == a.get() ? *b : *a;
    const auto failed = [this](const error& why) {
      failures.push_back(std::string(to_string(why.code())) + " in " + why.task());
    };
    return at.values.begin(run, {{other.name, other.me.incarnation}}, failed, std::move(awaited));
  }
  // The run of a with that number, which begins when it is first asked for.
  std::shared_ptr<remote_rendezvous> begin_once(std::uint64_t run) {
    auto& one = begun[run];
    if (!one) one = begin(*a, {some_session, run});
    return one;
  }
  std::map<std::uint64_t, std::shared_ptr<remote_rendezvous>> begun;
  static transfer_key key(int i) {
    return transfer_key("v" + std::to_string(i) + ";" + ps_task(0) + "/device:CPU:0;" + worker_task(0) +
                        "/device:CPU:0");
  }
  static any_tensor value(int i, std::int64_t bytes) {
    tensor<float> t({bytes / 4});
    for (float& x : t.span()) x = static_cast<float>(i);
    return t.untyped();
  }
  void receive(remote_rendezvous& at, int i) {
    at.receive(key(i), [this, i](const outcome<handed_over>& received) {
      if (!received) return got.push_back(std::string(to_string(received.failure()->code())));
      const any_tensor& v = received.value().value;
      const auto is = v.empty() ? "nothing" : std::to_string(static_cast<int>(v.data<float>()[0]));
      got.push_back(std::to_string(i) + "=" + is);
    });
  }
};
using texts = std::vector<std::string>;

TEST_CASE("V3: a value may come before its receiver asks, after it, and before the run has begun there") {
  two_exchanges m;
  const auto from = m.begin(*m.a);
  from->send(m.key(1), m.value(1, 40));
  m.world.run_for(1s);
  CHECK(m.b->values.count().runs == 1);  // expected
  const auto to = m.begin(*m.b);
  m.receive(*to, 1);
  CHECK(m.got == texts{"1=1"});
  m.receive(*to, 2);
  CHECK(m.got.size() == 1);
  from->send(m.key(2), m.value(2, 40));
  from->send(m.key(3), handed_over());  // a control edge
  m.world.run_for(1s);
  m.receive(*to, 3);
  CHECK(m.got == texts{"1=1", "2=2", "3=nothing"});
}

// Counts what is to be run in a thread that may compute, and runs it.
struct counting_carrier final : value_carrier {
  int computed = 0;
  void carry(const run_id&, const transfer_key&, std::string_view, any_tensor) override {}
  void fetch(const run_id&, const transfer_key&, std::string_view, fetched) override {}
  void compute(const run_id&, std::function<void()> body) override {
    ++computed;
    body();
  }
};

TEST_CASE("Q4: receivers that take briefly are called where their values come, others by a computing thread") {
  counting_carrier to;
  for (const bool brief : {false, true}) {
    const auto meet = std::make_shared<remote_rendezvous>(run_1, worker_task(0), to);
    if (brief) meet->takes_briefly();
    int got = 0;
    bool freed = false;
    meet->receive(two_exchanges::key(1), [&](const outcome<handed_over>& received) {
      got = static_cast<int>(received.value().value.data<float>()[0]);
    });
    to.computed = 0;
    meet->arrive(two_exchanges::key(1),
                 {two_exchanges::value(7, 40), std::shared_ptr<void>(nullptr, [&](void*) { freed = true; })});
    CHECK(got == 7);
    CHECK(freed);
    CHECK(to.computed == (brief ? 0 : 1));
  }
}

TEST_CASE("Q4: what a receiver puts by is done by a computing thread, in no inline run") {
  counting_carrier to;
  const auto meet = std::make_shared<remote_rendezvous>(run_1, worker_task(0), to);
  meet->takes_briefly();
  bool inline_run_then = true;
  meet->receive(two_exchanges::key(1), [&](const outcome<handed_over>&) {
    REQUIRE(inline_run::of_this_thread());
    inline_run::of_this_thread()->put_by([&] { inline_run_then = inline_run::of_this_thread() != nullptr; });
  });
  meet->arrive(two_exchanges::key(1), {two_exchanges::value(7, 40), nullptr});
  CHECK(to.computed == 1);
  CHECK_FALSE(inline_run_then);
}

TEST_CASE("V1: a second receiver of a key is refused at once, and the first is served") {
  two_exchanges m;
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  m.receive(*to, 1);
  m.receive(*to, 1);
  CHECK(m.got == texts{"internal"});
  from->send(m.key(1), m.value(1, 40));
  m.world.run_for(1s);
  CHECK(m.got == texts{"internal", "1=1"});
}

TEST_CASE("R1: a run begins once") {
  two_exchanges m;
  const auto first = m.begin(*m.b);
  CHECK(caught([&] { m.begin(*m.b); }).code() == errc::already_exists);
}

TEST_CASE("V2: beyond the credit a value is announced and stays, and is pulled when its receiver asks, early or late") {
  two_exchanges m;
  const bool early = GENERATE(true, false);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  if (early) m.receive(*to, 3);
  for (int i = 1; i <= 3; ++i) from->send(m.key(i), m.value(i, 800));
  m.world.run_for(1s);
  CHECK(m.got == (early ? texts{"3=3"} : texts{}));
  for (int i = early ? 2 : 3; i >= 1; --i) m.receive(*to, i);
  m.world.run_for(1s);
  CHECK(m.got.size() == 3);
  CHECK(std::set<std::string>(m.got.begin(), m.got.end()) == std::set<std::string>{"1=1", "2=2", "3=3"});
  CHECK(m.a->values.count().offered == 0);
}

TEST_CASE("V2: what is pushed and not taken is at most the credit, which comes back when it is taken") {
  two_exchanges m;
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  for (int i = 0; i < 10; ++i) from->send(m.key(i), m.value(i, 400));
  m.world.run_for(1s);
  CHECK(m.a->values.count().offered == 8);
  for (int i = 0; i < 10; ++i) m.receive(*to, i);
  m.world.run_for(1s);
  CHECK(m.got.size() == 10);
  for (int i = 10; i < 12; ++i) from->send(m.key(i), m.value(i, 400));
  CHECK(m.a->values.count().offered == 0);  // pushed again
}

TEST_CASE("V2: a value larger than the credit goes too, and so does one of no bytes when the credit is used up") {
  two_exchanges m(0);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  from->send(m.key(1), m.value(1, 100000));
  from->send(m.key(2), handed_over());
  m.receive(*to, 1);
  m.receive(*to, 2);
  m.world.run_for(1s);
  CHECK(m.got == texts{"2=nothing", "1=1"});
}

TEST_CASE("V4: what comes for a run that has ended is dropped, and its credit returned") {
  two_exchanges m;
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  m.b->values.end(run_1);
  for (int round = 0; round < 5; ++round) {
    from->send(m.key(round), m.value(round, 1000));
    m.world.run_for(1s);
  }
  CHECK(m.a->values.count().offered == 0);  // all were pushed
  CHECK(m.b->values.count().runs == 0);
  m.receive(*to, 1);
  CHECK(m.got == texts{"cancelled"});
  CHECK(caught([&] { m.begin(*m.b); }).code() == errc::cancelled);
}

TEST_CASE("V4: tombstones are gone half a minute after the last run of their session, and the sweep tells") {
  two_exchanges m;
  for (std::uint64_t run = 1; run <= 11; ++run) m.b->values.end({some_session, run});
  CHECK(caught([&] { m.begin(*m.b, {some_session, 11}); }).code() == errc::cancelled);
  m.begin(*m.b, {some_session, 1});  // forgotten
  m.world.run_for(29s);
  CHECK_FALSE(m.b->values.sweep());
  CHECK(caught([&] { m.begin(*m.b, {some_session, 11}); }).code() == errc::cancelled);
  m.world.run_for(2s);
  CHECK(m.b->values.sweep());
  CHECK_FALSE(m.b->values.sweep());
  m.begin(*m.b, {some_session, 11});
}

TEST_CASE("V4: the runs of one session leave the tombstones of another alone") {
  two_exchanges m;
  const session_id other{"another master", 3, 77};
  m.b->values.end(run_1);
  for (std::uint64_t run = 1; run <= 100; ++run) m.b->values.end({other, run});
  CHECK(caught([&] { m.begin(*m.b, run_1); }).code() == errc::cancelled);
}

TEST_CASE("V5: values of a run that never begins are dropped after a minute, with their credit") {
  two_exchanges m;
  const auto from = m.begin(*m.a);
  from->send(m.key(1), m.value(1, 1000));
  from->send(m.key(2), m.value(2, 1000));
  m.world.run_for(59s);
  m.b->values.sweep();
  CHECK(m.b->values.count().runs == 1);
  m.world.run_for(2s);
  m.b->values.sweep();
  CHECK(m.b->values.count().runs == 0);
  m.world.run_for(1s);
  m.begin(*m.a, run_2)->send(m.key(3), m.value(3, 1000));
  CHECK(m.a->values.count().offered == 1);  // that of run 1: the new one was pushed
}

TEST_CASE("V5: of one task a limited number of values waits for runs; a run of which more would wait does not begin") {
  two_exchanges m;
  const auto from = m.begin(*m.a), other = m.begin(*m.a, run_2);
  for (int i = 0; i < 20; ++i) from->send(m.key(i), m.value(i, 4));
  for (int i = 0; i < 20; ++i) other->send(m.key(i), m.value(i, 4));
  m.world.run_for(1s);
  CHECK(m.failures.empty());
  const error why = caught([&] { m.begin(*m.b, run_2); });
  CHECK(why.code() == errc::resource_exhausted);
  CHECK_THAT(why.what(),
             Catch::Contains(ps_task(0)) && Catch::Contains("20 values") && Catch::Contains("early_values"));
  const auto to = m.begin(*m.b);
  for (int i = 0; i < 20; ++i) m.receive(*to, i);
  CHECK(m.got.size() == 20);
  CHECK(caught([&] { m.begin(*m.b, run_2); }).code() == errc::cancelled);
}

TEST_CASE("V5: a run that does not begin keeps no values, and those of others may wait") {
  two_exchanges m;
  const auto from = m.begin(*m.a), other = m.begin(*m.a, run_2);
  for (int i = 0; i < 21; ++i) from->send(m.key(i), m.value(i, 4));
  for (int i = 0; i < 20; ++i) other->send(m.key(i), m.value(i, 4));
  m.world.run_for(1s);
  const auto to = m.begin(*m.b, run_2);
  for (int i = 0; i < 20; ++i) m.receive(*to, i);
  CHECK(m.got.size() == 20);
  CHECK(caught([&] { m.begin(*m.b); }).code() == errc::resource_exhausted);
}

TEST_CASE("V5: a task that sends too many values for too many runs loses its connection") {
  two_exchanges m;
  for (std::uint64_t run = 1; run <= 21; ++run)
    for (int i = 0; i < (run == 1 ? 20 : 1); ++i) m.begin_once(run)->send(m.key(i), m.value(i, 4));
  m.world.run_for(1s);
  CHECK(m.failures.empty());
  m.begin_once(22)->send(m.key(1), m.value(1, 4));
  m.world.run_for(1s);
  REQUIRE(m.failures.size() == 22);
  CHECK_THAT(m.failures[0], Catch::EndsWith(" in " + worker_task(0)));
}

TEST_CASE("V5: values for runs that have not begun are weighed, and a quarter of their bytes may be of one task") {
  two_exchanges m(1 << 20, {}, {.runs = {.tombstones = 10, .early = 20, .early_bytes = 80 << 10}});
  const auto from = m.begin(*m.a), other = m.begin(*m.a, run_2);
  from->send(m.key(1), m.value(1, 10 << 10));
  other->send(m.key(1), m.value(1, 16 << 10));
  m.world.run_for(1s);
  CHECK(m.failures.empty());
  const error why = caught([&] { m.begin(*m.b, run_2); });
  CHECK(why.code() == errc::resource_exhausted);
  CHECK_THAT(why.what(), Catch::Contains(ps_task(0)) && Catch::Contains("20480 bytes") &&
                             Catch::Contains("server_config.limits.early_bytes"));
  const auto to = m.begin(*m.b);
  m.receive(*to, 1);
  CHECK(m.got == texts{"1=1"});
}

TEST_CASE("V5: the values of a task for runs that have not begun are gone with its last channel, and their runs fail") {
  two_exchanges m;
  m.begin(*m.a)->send(m.key(1), m.value(1, 400));
  m.world.run_for(1s);
  CHECK(m.b->values.count().runs == 1);
  m.a->others.close(error(errc::unavailable, "the channel was closed"));
  m.world.run_for(1s);
  const error why = caught([&] { m.begin(*m.b); });
  CHECK(why.code() == errc::unavailable);
  CHECK_THAT(why.what(), Catch::Contains("lost the connection by which " + ps_task(0) + " sent values before the run"));
  CHECK(caught([&] { m.begin(*m.b); }).code() == errc::cancelled);
}

TEST_CASE("V8: a run fails by whose value more bytes would wait for a task than may, and what is pulled makes room") {
  two_exchanges m(0, {}, {.runs = {.tombstones = 10, .early = 20}, .offered = 100 << 10});
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  from->send(m.key(1), m.value(1, 200 << 10));  // one value may be larger
  m.world.run_for(1s);
  CHECK(m.failures.empty());
  from->send(m.key(2), m.value(2, 4));
  CHECK(m.failures == texts{"resource_exhausted in " + ps_task(0)});
  CHECK(m.a->values.count().offered == 1);
  m.receive(*to, 1);
  m.world.run_for(1s);
  CHECK(m.got == texts{"1=1"});
  m.begin(*m.a, run_2)->send(m.key(2), m.value(2, 90 << 10));
  CHECK(m.a->values.count().offered == 1);
  m.a->values.forget(run_2);
  m.begin(*m.a, {some_session, 3})->send(m.key(2), m.value(2, 90 << 10));
  CHECK(m.a->values.count().offered == 1);
  m.a->values.forget_session(some_session);
  m.begin(*m.a, {some_session, 4})->send(m.key(2), m.value(2, 90 << 10));
  CHECK(m.a->values.count().offered == 1);
  CHECK(m.failures.size() == 1);
}

TEST_CASE("V7: what comes early is of the task that sent it, or is dropped") {
  two_exchanges m;
  const auto from = m.begin(*m.a);
  const transfer_key here("v;" + worker_task(0) + "/device:CPU:0;" + worker_task(0) + "/device:CPU:0");
  m.a->values.carry(run_1, here, worker_task(0), m.value(1, 40));
  m.a->values.carry(run_1, transfer_key("nonsense"), worker_task(0), m.value(1, 40));
  m.world.run_for(1s);
  CHECK(m.failures.empty());
  CHECK(m.b->values.count().runs == 0);
}

TEST_CASE("V1: a value that is announced many times is asked for once") {
  two_exchanges m(0);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  m.receive(*to, 1);
  for (int i = 0; i < 100; ++i) to->announce(m.key(1), ps_task(0));
  m.world.run_for(1s);
  CHECK(m.a->pulls == 1);
  CHECK(m.got == texts{"aborted"});
}

TEST_CASE("V5: a run that begins, or is given up, makes room for other early values") {
  two_exchanges m;
  const bool begins = GENERATE(true, false);
  for (std::uint64_t run = 1; run <= 3; ++run) {
    const auto from = m.begin(*m.a, {some_session, run});
    for (int i = 0; i < 15; ++i) from->send(m.key(i), m.value(i, 4));
    m.world.run_for(1s);
    if (begins)
      m.begin(*m.b, {some_session, run});
    else
      m.world.run_for(61s), m.b->values.sweep();
  }
  CHECK(m.failures.empty());
}

TEST_CASE("V7: what a run does not await takes no memory there, and fails the run") {
  std::string why;
  two_exchanges m(std::uint64_t{1} << 30);
  const auto awaited = std::make_shared<const awaited_values>(awaited_values{
      {two_exchanges::key(1), output_type{dtype::float32, {unknown}}}, {two_exchanges::key(2), std::nullopt}});
  const auto [sent, text] = GENERATE(table<int, std::string>(
      {{1, "is uint8 [67108864], not float [?]"}, {2, "is uint8 [67108864], not empty"}, {3, "does not await"}}));
  CAPTURE(sent);
  const auto to = m.b->values.begin(
      run_1, {{ps_task(0), m.a->me.incarnation}}, [&](const error& e) { why = e.what(); }, awaited);
  const any_tensor large(dtype::uint8, {64 << 20});
  auto& pool = devices::pool_allocator::of_cpus();
  const auto before = pool.held();
  m.begin(*m.a)->send(m.key(sent), large);
  m.world.run_for(1s);
  CHECK_THAT(why, Catch::Contains(text));
  CHECK(pool.held() <= before);
  m.begin(*m.a, run_2)->send(m.key(4), m.value(4, 40));
  CHECK(m.a->values.count().offered == 0);  // its credit has come back
}

TEST_CASE("V7: a value that is pulled is of the type that is awaited") {
  two_exchanges m(0);
  const auto awaited = std::make_shared<const awaited_values>(
      awaited_values{{two_exchanges::key(1), output_type{dtype::uint8, {unknown}}}});
  const auto from = m.begin(*m.a), to = m.begin(*m.b, run_1, awaited);
  m.receive(*to, 1);
  from->send(m.key(1), m.value(1, 100));
  m.world.run_for(1s);
  CHECK(m.got == texts{"data_loss"});
}

TEST_CASE("V7: long strings come whole, pushed or pulled, and fail the run where they cannot be read") {
  const std::uint64_t credit = GENERATE(0u, 1u << 20);
  two_exchanges m(credit);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  const std::string text(2 * long_control, 'x');
  const any_tensor words = tensor<std::string>::of({text, "short"}).untyped();
  outcome<handed_over> got = error(errc::internal, "nothing came");
  to->receive(m.key(1), [&got](const outcome<handed_over>& received) { got = received; });
  from->send(m.key(1), handed_over{words});
  m.world.run_for(1s);
  REQUIRE(got);
  CHECK(got.value().value.data<std::string>()[0] == text);
  CHECK(got.value().value.data<std::string>()[1] == "short");

  m.receive(*to, 2);
  message cut_off = encode(push_value{run_1, m.key(2), words});
  cut_off.control.pop_back();
  m.a->values.route_to(worker_task(0))->notify(lane::data, push_value::method, std::move(cut_off));
  m.world.run_for(1s);
  CHECK(m.got == texts{std::string(to_string(errc::data_loss))});
  CHECK(m.a->values.route_to(worker_task(0))->up());
}

TEST_CASE("V2: texts take credit by their letters, and give it back") {
  two_exchanges m(1000);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  const any_tensor half = tensor<std::string>::of({std::string(400, 'x'), ""}).untyped();  // 464 bytes
  for (int i = 1; i <= 3; ++i) from->send(m.key(i), handed_over{half});
  CHECK(m.a->values.count().offered == 1);
  int got = 0;
  for (int i = 1; i <= 3; ++i) to->receive(m.key(i), [&](const outcome<handed_over>& value) { got += value.ok(); });
  m.world.run_for(1s);
  CHECK(got == 3);
  for (int i = 4; i <= 5; ++i) from->send(m.key(i), handed_over{half});
  CHECK(m.a->values.count().offered == 0);
}

TEST_CASE("V8: texts that wait for another task count by their letters") {
  two_exchanges m(0, {}, {.offered = 10'000});
  const auto from = m.begin(*m.a);
  const any_tensor text = tensor<std::string>::of({std::string(6000, 'x')}).untyped();
  from->send(m.key(1), handed_over{text});
  CHECK(m.failures.empty());
  from->send(m.key(2), handed_over{text});
  CHECK(m.failures == texts{"resource_exhausted in " + ps_task(0)});
}

TEST_CASE("V10: texts of more bytes than a message has fail their run, pushed or pulled, and no other") {
  const std::uint64_t credit = GENERATE(std::uint64_t{0}, std::uint64_t{1} << 30);
  two_exchanges m(credit);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  tensor<std::string> large({2});
  for (std::string& one : large.span()) one.resize(limits{}.control / 2);
  error why(errc::internal, "nothing was refused");
  to->receive(m.key(1), [&](const outcome<handed_over>& got) { why = got ? why : *got.failure(); });
  const auto sent = pinion::outcome_of([&] { from->send(m.key(1), handed_over{large.untyped()}); });
  m.world.run_for(1s);
  if (!sent) why = *sent.failure();
  CHECK(why.code() == errc::resource_exhausted);
  CHECK_THAT(why.sentence(), Catch::Contains("268435456 bytes of control"));
  CHECK(m.a->values.route_to(worker_task(0))->up());
  m.receive(*to, 2);
  from->send(m.key(2), m.value(2, 40));
  m.world.run_for(1s);
  CHECK(m.got == texts{"2=2"});
}

TEST_CASE("S4: a value that waits to be pulled is given to the task that it is for, and to no other") {
  std::string how;
  two_exchanges m(0);
  const auto from = m.begin(*m.a);
  const transfer_key key("v;" + ps_task(0) + "/device:CPU:0;" + worker_task(1) + "/device:CPU:0");
  m.a->values.carry(run_1, key, worker_task(0), m.value(1, 100));
  m.b->values.fetch(run_1, key, ps_task(0),
                    [&](const outcome<any_tensor>& got) { how = got ? "got it" : to_string(got.failure()->code()); });
  m.world.run_for(1s);
  CHECK(how == "permission_denied");
  CHECK(m.a->values.count().offered == 1);
}

TEST_CASE("a value that is pulled after its run was given up there fails with aborted, and may be made anew") {
  two_exchanges m(0);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  from->send(m.key(1), m.value(1, 100));
  m.world.run_for(1s);
  m.a->values.forget(run_1);
  CHECK(m.a->values.count().offered == 0);
  m.receive(*to, 1);
  m.world.run_for(1s);
  CHECK(m.got == texts{"aborted"});
}

TEST_CASE("V4: a value that is sent when its run was cancelled meanwhile is not offered") {
  two_exchanges m(0);
  const auto from = m.begin(*m.a);
  m.a->values.forget(run_1);
  from->send(m.key(1), m.value(1, 100));
  CHECK(m.a->values.count().offered == 0);
}

TEST_CASE("F2: when the route to a peer goes down, its runs fail with its name, and what it was offered is dropped") {
  two_exchanges m(0);
  const auto from = m.begin(*m.a), to = m.begin(*m.b);
  from->send(m.key(1), m.value(1, 100));
  m.world.run_for(1s);
  m.world.reset(host_of(ps_task(0)), host_of(worker_task(0)));
  m.world.run_for(1s);
  CHECK(std::set<std::string>(m.failures.begin(), m.failures.end()) ==
        std::set<std::string>{"unavailable in " + ps_task(0), "unavailable in " + worker_task(0)});
  CHECK(m.failures.size() == 2);
  CHECK(m.a->values.count().offered == 0);
  m.a->values.end(run_1);
  from->send(m.key(2), m.value(2, 100));  // to nobody
}

// A channel by which a peer sends.
struct way_in {
  two_exchanges& m;
  peer_ref who;
  way_in(two_exchanges& in, std::uint64_t channel)
      : m(in), who(std::make_shared<const peer>(peer{channel, ps_task(0), in.a->me.incarnation})) {
    m.b->values.came(who);
    m.world.run_for(1ms);
  }
  void break_down() { m.b->values.gone(who, error(errc::unavailable, "the connection broke")); }
};
const texts lost_ps{"unavailable in " + ps_task(0)};

TEST_CASE("F2: when the way by which a peer sends is gone and the peer lives, runs that had begun fail with its name") {
  two_exchanges m;
  m.b->values.gone(m.b->last_peer, error(errc::unavailable, "the connection broke"));
  way_in old(m, 7);
  m.begin(*m.b);
  m.world.run_for(1ms);
  old.break_down();
  const way_in anew(m, 8);
  m.begin(*m.b, run_2);
  m.world.run_for(1s);
  CHECK(m.failures == lost_ps);  // of the first run alone
  old.break_down();
  m.world.run_for(1s);
  CHECK(m.failures.size() == 1);
}

TEST_CASE("F2: a run that began while a peer had no way to send fails, if it awaits a value of it and none comes") {
  two_exchanges m;
  m.b->values.gone(m.b->last_peer, error(errc::unavailable, "the connection fell silent"));
  m.world.run_for(100ms);
  const auto to = m.begin(*m.b);
  m.begin(*m.b, run_2);  // awaits nothing
  m.receive(*to, 1);
  m.world.run_for(1s);
  m.b->values.sweep();
  CHECK(m.failures.empty());  // the peer's part may begin later, and its way with it
  m.world.run_for(2s);
  const way_in anew(m, 8);  // too late to bring what was lost before
  for (int i = 0; i < 10; ++i) m.world.run_for(1s), m.b->values.sweep();
  CHECK(m.failures == lost_ps);
}

TEST_CASE("F2: a run waits for as long as its peer computes while the way from it stands") {
  two_exchanges m;
  const auto to = m.begin(*m.b);
  m.receive(*to, 1);
  for (int i = 0; i < 100; ++i) m.world.run_for(1s), m.b->values.sweep();
  CHECK(m.failures.empty());
}

TEST_CASE("F2: a value that was lost with its connection right after its sender's part had ended is not awaited") {
  two_exchanges m;
  const auto to = m.begin(*m.b);
  m.receive(*to, 1);
  m.begin(*m.a);
  m.a->values.end(run_1);  // the value is on its way, and nobody in its task waits for anything
  m.b->values.gone(m.b->last_peer, error(errc::unavailable, "Connection reset by peer"));
  m.world.run_for(1s);
  CHECK(m.failures == lost_ps);
}

TEST_CASE("F2: the runs of a peer that has died with its connections are told by the channel to it, once") {
  two_exchanges m;
  m.begin(*m.b);
  m.world.cut(host_of(ps_task(0)), host_of(worker_task(0)));
  m.b->values.gone(m.b->last_peer, error(errc::unavailable, "Connection reset by peer"));
  m.world.run_for(500ms);
  CHECK(m.failures.empty());
  m.world.run_for(10s);
  CHECK(m.failures == lost_ps);
}

TEST_CASE("V2: after a lost connection the credit is whole again") {
  two_exchanges m;
  const auto from = m.begin(*m.a);
  from->send(m.key(1), m.value(1, 1000));
  m.world.run_for(100ms);
  m.world.reset(host_of(ps_task(0)), host_of(worker_task(0)));
  m.world.run_for(1s);
  m.connect();
  m.begin(*m.a, run_2)->send(m.key(2), m.value(2, 1000));
  CHECK(m.a->values.count().offered == 0);
}

TEST_CASE("F3: a value from another life of its sender, or from one that takes no part, fails the run as aborted") {
  two_exchanges m;
  const auto to =
      m.b->values.begin(run_1, {{ps_task(0), 12345}}, [&](const error& why) { m.failures.push_back(name_of(why)); });
  m.receive(*to, 1);
  m.begin(*m.a)->send(m.key(1), m.value(1, 100));
  m.world.run_for(1s);
  CHECK(m.failures == texts{"aborted in " + ps_task(0)});
  CHECK(m.got.empty());
}

TEST_CASE("C2, V2: a peer that pushes far more than its credit is thrown out") {
  two_exchanges m;
  m.a = nullptr;
  m.a =
      std::make_unique<task_exchange>(m.a_host, ps_task(0), m.spec, exchange_options{.credit = std::uint64_t{1} << 40});
  m.connect();
  const auto from = m.begin(*m.a);
  for (int i = 0; i < 3; ++i) from->send(m.key(i), m.value(i, 100 << 20));
  m.world.run_for(10s);
  REQUIRE(m.failures.size() == 1);
  CHECK_THAT(m.failures[0], Catch::EndsWith(" in " + worker_task(0)));
}

// ---- through whole steps

TEST_CASE("R1, V2: steps are right in any weather, with any credit, and leave nothing behind") {
  const std::uint64_t seed = GENERATE(Catch::Generators::range(1u, 51u));
  server_config config;
  config.credit = seed % 4 == 0 ? 0 : seed % 4 * 300;
  sim_cluster cluster(weather{seed}, 2, 2, config);
  ping_pong near(ps_task(0), worker_task(0), 4, 100), far(ps_task(1), worker_task(1), 4, 100);
  session one(cluster.toward(worker_task(0))), two(([&] {
    auto o = cluster.toward(worker_task(0));
    o.graph = &near.g;
    return o;
  })());
  one.run(far.init);
  two.run(near.init);
  for (int i = 0; i < 3; ++i) {
    CHECK(far.is_right(one.run(far.end), static_cast<float>(i)));
    CHECK(near.is_right(two.run(near.end), static_cast<float>(i)));
    one.run(far.up);
    two.run(near.up);
  }
  cluster.run_for(1s);
  CHECK(cluster.runs() == 0);
}

}  // namespace
