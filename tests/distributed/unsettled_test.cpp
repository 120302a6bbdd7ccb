// Parts that have ended well, and hold what they took from queues, while nobody says how their runs end.
#include <catch2/catch.hpp>

#include <distributed/forgery.hpp>
#include <distributed/impostor.hpp>
#include <distributed/real_cluster.hpp>

namespace {

using namespace real;
using namespace distributed;

// A task with a queue, and another task that is a master which only says what it is told to.
struct silent_master {
  explicit silent_master(int runs_of_all = 10'000) : task(spec(), options(runs_of_all)) {
    const device on{"/job:worker/task:0"};
    const fifo_queue<float> q({.capacity = -1, .shapes = {{}}, .name = "q"});
    const expr<float> get = q.dequeue();  // the node behind the queue's
    fill = q.enqueue_many(constant(tensor<float>({2000}, std::vector<float>(2000, 1.0f))));
    size = q.size();
    const node_id takes = end_of(get).node;
    f.with({.kind = part_item::compute, .node = takes - 1, .outputs = 1});
    f.with({.kind = part_item::compute, .node = takes, .inputs = {{0, 0}}, .outputs = 1, .waits = {takes}});
    inside.run(fill);
    REQUIRE(left() == 2000);
    master->ask(f.message(session, 1));
  }

  cluster_spec spec() const { return {{"worker", {"127.0.0.1:0", other.address()}}}; }
  static server_options options(int runs_of_all) {
    server_options o{.job = "worker"};
    o.config.limits.runs_of_all = runs_of_all;
    return o;
  }
  part_ended run() { return master->ask<part_ended>(run_of(session, 1, ++runs)); }
  void run(int times) {
    for (int i = 0; i < times; ++i) REQUIRE(run().holds);
  }
  int left() { return inside.run(size); }
  std::uint64_t unsettled() const { return task.report().backlog.parts_unsettled; }

  const impostor other{other_worker};
  server task;
  forgery f;
  operation fill;
  expr<int> size;
  pinion::session inside{{.target = task.target(), .graph = &f.g}};
  std::optional<liar> master{std::in_place, task.target(), other_worker, other.incarnation()};
  const session_id session = master->session(some_session);
  std::uint64_t runs = 0;
};

TEST_CASE("R10: what a part has taken stays taken once its run has ended well, and goes back once it is cancelled") {
  silent_master m;
  m.run(3);
  CHECK(m.unsettled() == 3);
  CHECK(m.left() == 1997);
  m.master->tell(settle_run{{m.session, 1}});
  m.master->tell(cancel_run{{m.session, 1}, error(errc::cancelled, "too late")});
  m.master->tell(cancel_run{{m.session, 2}, error(errc::invalid_argument, "a value of it was wrong elsewhere")});
  m.master->tell(cancel_run{{m.session, 3}, error(errc::cancelled, "enough")});
  CHECK(soon([&] { return m.unsettled() == 0; }));
  CHECK(soon([&] { return m.left() == 1998; }));
}

TEST_CASE("R10: what parts have taken goes back when their session is forgotten, and when their master is gone") {
  silent_master m;
  m.run(3);
  SECTION("forgotten") {
    m.master->tell(forget_session{m.session});
  }
  SECTION("gone") {
    m.master.reset();
  }
  CHECK(soon([&] { return m.unsettled() == 0; }));
  CHECK(soon([&] { return m.left() == 2000; }));
}

TEST_CASE("R10: a run whose cancellation has come just before it takes nothing that nobody gives back") {
  silent_master m;
  std::atomic<int> ended = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    m.master->note(cancel_run{{m.session, i}, error(errc::cancelled, "enough")});
    m.master->order<part_ended>(run_of(m.session, 1, i), [&](const outcome<part_ended>&) { ++ended; });
  }
  CHECK(soon([&] { return ended == 1000; }));
  CHECK(soon([&] { return m.unsettled() == 0; }));
  CHECK(soon([&] { return m.left() == 2000; }));
}

TEST_CASE("R10: of one master a thousand parts are kept, and the first of more has used up what it took") {
  silent_master m;
  m.run(1002);
  CHECK(m.unsettled() == 1000);
  m.master->tell(forget_session{m.session});
  CHECK(soon([&] { return m.left() == 1998; }));
}

TEST_CASE("L1: a part that holds what it took counts as a run of all") {
  silent_master m(4);
  m.run(4);
  const auto e = caught([&] { m.run(); });
  CHECK(e.code() == errc::resource_exhausted);
  CHECK_THAT(e.sentence(), Catch::Contains("server_config.limits.runs_of_all"));
  m.master->tell(settle_run{{m.session, 2}});
  CHECK(soon([&] { return outcome_of([&] { m.run(); }).ok(); }));
}

}  // namespace
