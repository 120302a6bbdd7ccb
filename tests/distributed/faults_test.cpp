// Steps of a cluster whose tasks die, freeze, restart and lose each other, on a simulated network.
#include <catch2/catch.hpp>

#include <distributed/sim_cluster.hpp>

namespace {

using namespace pinion_tests;

const duration two_heartbeats = 2s + 100ms;  // and what messages take

// A cluster with a model that has run once, and a session of worker 0.
struct running {
  sim_cluster cluster;
  ping_pong model;
  session sess;
  explicit running(std::uint64_t seed = 1, const std::string& from = ps_task(0), const std::string& to = worker_task(0),
                   std::chrono::milliseconds timeout = {})
      : cluster(weather{seed}), model(from, to), sess(cluster.toward(worker_task(0), timeout)) {
    sess.run(model.init);
    REQUIRE(model.is_right(sess.run(model.end)));
  }
  error fails() {
    return caught([&] {
      if (model.is_right(sess.run(model.end))) return;
      throw error(errc::unknown, "a wrong result");
    });
  }
  bool works() { return model.is_right(sess.run(model.end)); }
};

struct fault {
  const char* what;
  std::function<void(sim_cluster&, const std::string& victim, const std::string& peer)> strike;
};
const std::vector<fault> faults{
    {"freeze", [](sim_cluster& c, const std::string& a, const std::string&) { c.freeze(a); }},
    {"cut", [](sim_cluster& c, const std::string& a, const std::string& b) { c.cut(a, b); }},
    {"cut there", [](sim_cluster& c, const std::string& a, const std::string& b) { c.cut_way(b, a); }},
    {"cut back", [](sim_cluster& c, const std::string& a, const std::string& b) { c.cut_way(a, b); }},
    {"reset", [](sim_cluster& c, const std::string& a, const std::string& b) { c.reset(a, b); }},
};

// Of a way that is cut in one direction either end may complain first.
bool one_way(const fault& f) {
  return std::string(f.what).rfind("cut ", 0) == 0;
}
bool names(const error& e, const std::vector<std::string>& tasks) {
  return e.code() == errc::unavailable && std::find(tasks.begin(), tasks.end(), e.task()) != tasks.end();
}

// Whether a step that ended so had met a fault: the time that is drawn may lie behind its end.
bool was_struck(const error& e) {
  return e.sentence() != "nothing was thrown";
}

// A fault between two tasks in the middle of a step.
struct trial {
  std::string far;  // the task whose part the ps feeds
  std::string victim, peer;
  std::vector<std::string> culprits;      // the tasks that the error may name
  std::uint64_t microseconds = 6000;      // the fault strikes within this time, in which a step takes place
  std::chrono::seconds swept_after = 1s;  // then no task holds anything of a run any more
};

// Runs a step for each seed, and the fault at a time that is drawn. A step that it strikes fails in time and by name;
// once the fault is mended, the session works again. Returns how many steps it struck.
int strikes(const fault& f, const trial& t, std::uint64_t seeds) {
  int struck = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO(f.what << ", seed " << seed);
    running r(seed, ps_task(0), t.far);
    dice chance(seed * 77);
    r.cluster.after(std::chrono::microseconds(chance(t.microseconds)), [&] { f.strike(r.cluster, t.victim, t.peer); });
    error e(errc::unknown, "");
    CHECK(r.cluster.took([&] { e = r.fails(); }) < two_heartbeats);
    struck += was_struck(e);
    CHECK((!was_struck(e) || names(e, t.culprits)));
    r.cluster.run_for(5s);
    r.cluster.heal();
    r.cluster.run_for(1s);
    CHECK(r.works());
    CHECK(r.works());
    r.cluster.run_for(t.swept_after);
    CHECK(r.cluster.runs() == 0);
  }
  return struck;
}

// Runs a step for each seed, and kills a task at a time that is drawn; `afterwards` says what then holds. Returns how
// many steps failed.
int kills(const std::string& victim, const std::string& far, std::uint64_t seeds,
          const std::function<void(running&)>& afterwards) {
  int struck = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO(victim << ", seed " << seed);
    running r(seed, ps_task(0), far);
    r.cluster.after(std::chrono::microseconds(dice(seed)(6000)), [&] { r.cluster.kill(victim); });
    const auto e = r.fails();
    struck += was_struck(e);
    CHECK((!was_struck(e) || name_of(e) == "unavailable in " + victim));
    afterwards(r);
  }
  return struck;
}

// ---- one task fails in the middle of a step

TEST_CASE(
    "F1, R1: a ps that freezes, or is cut off or lost, in the middle of a step fails it within two heartbeats, by "
    "name") {
  const auto& f = faults[GENERATE(Catch::Generators::range(std::size_t{0}, std::size_t{5}))];
  const trial t{worker_task(0), ps_task(0), worker_task(0), {ps_task(0), one_way(f) ? worker_task(0) : ""}};
  CHECK(strikes(f, t, 8) >= 4);
}

TEST_CASE(
    "F1: a worker, not the master, that freezes or is cut off or lost fails the step, and the session goes on once it "
    "is back") {
  const auto& f = faults[GENERATE(Catch::Generators::range(std::size_t{0}, std::size_t{5}))];
  // A master tells a worker of a run at its beginning alone.
  const std::uint64_t within = std::string(f.what) == "cut there" ? 1 : 6000;
  // A worker that was not told of a run keeps what the ps sent for it, for a minute.
  const trial t{
      worker_task(1), worker_task(1), worker_task(0), {worker_task(1), one_way(f) ? worker_task(0) : ""}, within, 80s};
  CHECK(strikes(f, t, 6) >= 3);
}

TEST_CASE(
    "F1, F2: two tasks that lose each other, but not their master, fail the step, and it works again once healed") {
  const auto& f = faults[GENERATE(Catch::Generators::range(std::size_t{1}, std::size_t{5}))];
  CHECK(strikes(f, {worker_task(1), ps_task(0), worker_task(1), {ps_task(0), worker_task(1)}}, 6) >= 3);
}

TEST_CASE("F1: while a task is away each step fails at once, or within two heartbeats, and the first after works") {
  running r;
  r.cluster.cut(ps_task(0), worker_task(0));
  for (int i = 0; i < 5; ++i) {
    CHECK(r.cluster.took([&] { CHECK(name_of(r.fails()) == "unavailable in " + ps_task(0)); }) < two_heartbeats);
  }
  r.cluster.heal();
  CHECK(r.works());
}

TEST_CASE(
    "F3: a killed task fails the step at once; restarted, it is aborted for the old session and well for a new one") {
  const int struck = kills(ps_task(0), worker_task(0), 12, [](running& r) {
    r.cluster.run_for(1s);
    CHECK(name_of(r.fails()) == "unavailable in " + ps_task(0));
    r.cluster.start(ps_task(0));
    CHECK(name_of(r.fails()) == "aborted in " + ps_task(0));
    CHECK(name_of(r.fails()) == "aborted in " + ps_task(0));
    session again(r.cluster.toward(worker_task(0)));
    // its predecessor's state is gone
    CHECK(caught([&] { again.run(r.model.end); }).code() == errc::failed_precondition);
    again.run(r.model.init);
    CHECK(r.model.is_right(again.run(r.model.end)));
  });
  CHECK(struck >= 6);
}

TEST_CASE("F3: a task that was restarted behind a cut is aborted, not taken for its predecessor") {
  running r;
  r.cluster.cut(ps_task(0), worker_task(0));
  r.cluster.kill(ps_task(0));
  r.cluster.start(ps_task(0));
  r.cluster.run_for(500ms);
  r.cluster.heal();
  const auto e = r.fails();
  CHECK((name_of(e) == "unavailable in " + ps_task(0) || name_of(e) == "aborted in " + ps_task(0)));
  CHECK(name_of(r.fails()) == "aborted in " + ps_task(0));
}

TEST_CASE(
    "F1: a task that is killed in the middle of a step fails it with its name, and so do later steps once it is taken "
    "down") {
  const std::string victim = GENERATE(ps_task(0), worker_task(1));
  const int struck = kills(victim, worker_task(1), 8, [&](running& r) {
    r.cluster.stop(victim);
    CHECK(name_of(r.fails()) == "unavailable in " + victim);
  });
  CHECK(struck >= 4);
}

// ---- ends of runs

TEST_CASE("R5: a step that ends late says which value from which task it waited for") {
  running r(1, ps_task(0), worker_task(0), 500ms);
  r.cluster.freeze(ps_task(0));
  error e(errc::unknown, "");
  CHECK(r.cluster.took([&] { e = r.fails(); }) < 510ms);
  CHECK(name_of(e) == "deadline_exceeded in " + ps_task(0));
  CHECK_THAT(e.sentence(), Catch::Contains("waiting for ") && Catch::Contains(" from " + ps_task(0)) &&
                               Catch::Contains(ps_task(0) + " has not ended its part (running, last heard "));
  CHECK_THAT(e.sentence(), !Catch::Contains("it answers"));
  r.cluster.heal();
  r.cluster.run_for(1s);
  CHECK(r.works());
}

TEST_CASE("R5: a step that ends late but waits for no value says which task has not ended its part") {
  running r(1, ps_task(0), worker_task(1), 500ms);
  r.cluster.freeze(worker_task(1));
  const auto e = r.fails();
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK_THAT(e.sentence(), Catch::Contains(worker_task(1) + " has not ended its part"));
}

TEST_CASE(
    "S3: a session waits until its startup_timeout for the tasks that its steps need, and says for whom and why") {
  sim_cluster cluster({}, 3);
  const ping_pong model(ps_task(0), ps_task(1));
  cluster.kill(ps_task(0));
  cluster.kill(ps_task(2));  // which no step needs
  cluster.cut(ps_task(1), worker_task(0));
  session sess(cluster.toward(worker_task(0), 1s, 3s));
  error e(errc::unknown, "");
  const auto took = cluster.took([&] { e = caught([&] { sess.run(model.end); }); });
  CHECK((took >= 3s && took < 3300ms));
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK(e.sentence() ==
        "waited 3.0 s for " + ps_task(0) + " at 127.0.1.1:2222 (joining: nobody listens on 127.0.1.1:2222), " +
            ps_task(1) +
            " at 127.0.1.2:2222 (joining: no answer so far), and the session's startup_timeout (else its "
            "operation_timeout) is over");
  cluster.heal();
  cluster.start(ps_task(0));
  sess.run(model.init);
  CHECK(model.is_right(sess.run(model.end)));
}

TEST_CASE("S3: a session does not wait for tasks that its steps do not need") {
  sim_cluster cluster;
  const ping_pong model;
  cluster.kill(worker_task(1));
  session sess(cluster.toward(worker_task(0)));
  CHECK(cluster.took([&] { sess.run(model.init); }) < 100ms);
}

TEST_CASE("R3: a session that is closed while its step runs cancels it everywhere") {
  running r(1, ps_task(0), worker_task(1));
  r.cluster.after(2ms, [&] { r.sess.close(); });
  CHECK(r.fails().code() == errc::cancelled);
  r.cluster.run_for(1s);
  CHECK(r.cluster.runs() == 0);
  CHECK(caught([&] { r.sess.run(r.model.end); }).code() == errc::failed_precondition);
}

TEST_CASE("R3: a session that is closed at any moment of its first step cancels it, or it has ended") {
  int cancelled = 0, ended = 0;
  for (int moment = 0; moment < 100; ++moment) {
    sim_cluster cluster(weather{1});
    const ping_pong model(ps_task(0), worker_task(1));
    session sess(cluster.toward(worker_task(0)));
    cluster.after(moment * 1ms, [&] { sess.close(); });
    const auto e = caught([&] { sess.run(model.init); });
    INFO(e.what());
    CHECK((e.code() == errc::cancelled || !was_struck(e)));
    ++(was_struck(e) ? cancelled : ended);
    cluster.run_for(1s);
    CHECK(cluster.runs() == 0);
  }
  CHECK(cancelled > 0);
  CHECK(ended > 0);
}

TEST_CASE("R3: a first step that is cancelled at any moment ends, whatever it waits for, and the session goes on") {
  for (int moment = 0; moment < 60; ++moment) {
    sim_cluster cluster(weather{1});
    const ping_pong model(ps_task(0), worker_task(1));
    operation takes;
    {
      const device on{ps_task(0)};
      auto empty = fifo_queue<float>({.capacity = 1, .shapes = {{}}});
      takes = group(empty.dequeue());
    }
    session sess(cluster.toward(worker_task(0)));
    cluster.after(moment * 100us, [&] { sess.cancel_steps(error(errc::cancelled, "enough")); });
    cluster.after(1s, [&] { sess.cancel_steps(error(errc::aborted, "the cancellation was lost")); });
    const auto e = caught([&] { sess.run(takes); });
    INFO(moment << ": " << e.what());
    CHECK(e.code() == errc::cancelled);
    cluster.run_for(2s);
    CHECK(cluster.runs() == 0);
    sess.run(model.init);
    CHECK(model.is_right(sess.run(model.end)));
  }
}

TEST_CASE("R2: the first failure is reported, not what fails because of it") {
  const std::uint64_t seed = GENERATE(Catch::Generators::range(1u, 13u));
  running r(seed, ps_task(0), worker_task(1));
  const auto x = placeholder<float>({unknown}, "x");
  expr<float> bad;
  {
    const device on{worker_task(1)};
    bad = ping_pong::hop(r.model.end + x, ps_task(0), "far");
  }
  const auto e = caught([&] { r.sess.run({{x, tensor<float>({7})}}, bad, r.model.end); });
  CHECK(name_of(e) == "invalid_argument in " + worker_task(1));
  r.cluster.run_for(1s);
  CHECK(r.cluster.runs() == 0);
  CHECK(r.works());
}

TEST_CASE("S4: a step is shipped once, and again after its connection was lost") {
  running r;
  const auto requests = [&] { return r.cluster.requests(worker_task(0)); };
  const auto before = requests();
  for (int i = 0; i < 10; ++i) CHECK(r.works());
  CHECK(requests() - before <= 11);  // a request a run, and a ping
  r.cluster.reset(ps_task(0), worker_task(0));
  r.cluster.run_for(100ms);
  CHECK(r.works());
  r.sess.run(r.model.up);
  CHECK(r.model.is_right(r.sess.run(r.model.end), 1));
}

TEST_CASE("S1: two sessions share the state of tasks, and the end of one leaves it to the other") {
  running r;
  {
    session other(r.cluster.toward(worker_task(1)));
    CHECK(r.model.is_right(other.run(r.model.end)));
    other.run(r.model.up);
  }
  CHECK(r.model.is_right(r.sess.run(r.model.end), 1));
}

// ---- masters and clients that are gone

TEST_CASE("R4: a run whose master is killed or vanishes is cancelled by its workers") {
  const bool cut = GENERATE(true, false);
  running r(1, ps_task(0), worker_task(1));
  r.cluster.after(2ms, [&] {
    if (!cut) return r.cluster.kill(worker_task(0));
    for (const auto& other : {ps_task(0), worker_task(1)}) r.cluster.cut(worker_task(0), other);
  });
  r.fails();
  r.cluster.run_for(20s);
  CHECK(r.cluster.runs(ps_task(0)) == 0);
  CHECK(r.cluster.runs(worker_task(1)) == 0);
}

TEST_CASE("R4, V2: no task keeps what it made for a master that was lost at any time of a step") {
  const int at = GENERATE(Catch::Generators::range(0, 6000, 300));  // microseconds
  const bool kill = GENERATE(true, false);
  server_config announces_all;
  announces_all.credit = 1;
  sim_cluster cluster({}, 1, 2, announces_all);
  ping_pong model(ps_task(0), worker_task(1));
  session sess(cluster.toward(worker_task(0)));
  sess.run(model.init);
  REQUIRE(model.is_right(sess.run(model.end)));
  cluster.after(std::chrono::microseconds(at), [&] {
    if (kill) return cluster.kill(worker_task(0));
    cluster.reset(worker_task(0), ps_task(0));
    cluster.reset(worker_task(0), worker_task(1));
  });
  const auto e = caught([&] { sess.run(model.end); });
  CHECK((e.sentence() == "nothing was thrown" || e.code() == errc::unavailable || e.code() == errc::aborted));
  cluster.run_for(2s);  // early values of a run wait for a minute
  for (const auto& task : {ps_task(0), worker_task(1)}) CHECK(cluster.offered(task) == 0);
}

TEST_CASE("F4: a client that is gone takes its sessions along") {
  const std::string how = GENERATE("killed", "cut off", "closed");
  sim_cluster cluster;
  far_client client(cluster, worker_task(0));
  client.look_up();
  if (how == "killed") client.kill();
  if (how == "cut off") client.cut_off();
  client.close();
  cluster.run_for(how == "cut off" ? 20s : 1s);
  CHECK(caught([&] { client.look_up(); }).code() == errc::aborted);
}

// ---- everything at once

TEST_CASE(
    "F1, R1: whatever happens to a cluster, each step ends rightly or with an error in time, and all is well "
    "afterwards") {
  const std::uint64_t seed = GENERATE(Catch::Generators::range(1u, 31u));
  INFO("seed " << seed);
  running r(seed, ps_task(0), worker_task(1));
  dice chance(seed);
  int struck = 0;
  const std::vector<std::string> all{ps_task(0), worker_task(0), worker_task(1)};
  for (int i = 0; i < 15; ++i) {
    const auto a = all[chance(3)], b = all[chance(3)];
    const auto& f = faults[chance(faults.size())];
    const bool own = a == worker_task(0) && std::string(f.what) == "freeze";  // then nobody is left to tell
    if (a != b && !own)
      r.cluster.after(std::chrono::microseconds(chance(9000)), [&, f, a, b] { f.strike(r.cluster, a, b); });
    error e(errc::unknown, "");
    CHECK(r.cluster.took([&] { e = r.fails(); }) < 2 * two_heartbeats);
    struck += was_struck(e);
    CHECK((!was_struck(e) || e.code() == errc::unavailable));
    if (chance(2) == 0) r.cluster.heal();
  }
  CHECK(struck > 0);
  r.cluster.run_for(10ms);
  r.cluster.heal();
  r.cluster.run_for(10s);
  CHECK(r.works());
  r.cluster.run_for(100s);
  CHECK(r.cluster.runs() == 0);
}

}  // namespace
