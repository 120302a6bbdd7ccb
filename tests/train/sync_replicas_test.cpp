// Synchronous training: which gradients count, who waits for whom, and how that ends.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"
#include "support/wire_message.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using namespace std::chrono_literals;

// Replicas as programs on one session: each pushes a gradient of w that is fed.
struct team : own_graph {
  struct replica {
    pn::expr<float> g;
    pn::operation step;
    std::optional<tr::sync_replicas_hook> hook;
    pn::expr<std::int64_t> totals, staleness;
  };

  team(int replicas, tr::sync_replicas_options o, bool numbered = true) {
    w = pn::variable(0.0f, {.name = "w"});
    global_step = tr::get_or_create_global_step();
    for (int r = 0; r < replicas; ++r) {
      pn::name_scope scope{"replica_" + std::to_string(r)};
      if (numbered) o.replica = r;
      tr::sync_replicas sync{tr::gradient_descent{{.learning_rate = 1}}, o};
      replica one;
      one.g = pn::placeholder<float>({}, "g");
      one.step = sync.minimize(w * one.g, {.global_step = global_step});
      one.hook = sync.make_session_run_hook(r == 0);
      one.totals = sync.counts().totals;
      one.staleness = sync.counts().staleness;
      if (r == 0) shown = sync.summaries();
      all.push_back(one);
    }
    init = pn::global_variables_initializer();
    merged = tr::summary::merge_all();
    sess.emplace();
    sess->run(init);
  }
  void join() {
    for (auto& r : all) r.hook->after_create_session(*sess, coord.emplace_or_get());
  }
  auto step(int r, float gradient) {
    return std::async(std::launch::async, [this, r, gradient] {
      sess->run({{all[static_cast<std::size_t>(r)].g, gradient}}, all[static_cast<std::size_t>(r)].step);
    });
  }
  float value() { return float(sess->run(w)); }
  std::int64_t steps() { return std::int64_t(sess->run(global_step)); }
  std::vector<std::int64_t> totals() {
    const auto t = sess->run(all[0].totals);
    return {t.span().begin(), t.span().end()};
  }

  // A coordinator that goes before the session.
  struct late_coordinator {
    std::optional<tr::coordinator> it;
    tr::coordinator& emplace_or_get() {
      if (!it) it.emplace();
      return *it;
    }
  };

  pn::variable_handle<float> w;
  pn::variable_handle<std::int64_t> global_step;
  std::vector<replica> all;
  pn::operation init;
  std::vector<pn::expr<std::string>> shown;
  pn::expr<std::string> merged;
  std::optional<pn::session> sess;
  late_coordinator coord;
};

}  // namespace

TEST_CASE("an update is the mean of the gradients of all replicas, applied once") {
  team t(3, {.replicas_to_aggregate = 3});
  t.join();
  for (int round = 1; round <= 4; ++round) {
    auto a = t.step(0, 1), b = t.step(1, 2), c = t.step(2, 6);
    a.get();
    b.get();
    c.get();
    CHECK(t.value() == -3.0f * float(round));
    CHECK(t.steps() == round);
  }
  CHECK(t.totals() == std::vector<std::int64_t>{12, 0, 4, 3});
}

TEST_CASE("the gradient of a backup replica that comes late is dropped, and counted by how late it is") {
  team t(3, {.replicas_to_aggregate = 2, .total_num_replicas = 3});
  t.join();
  for (int round = 0; round < 2; ++round) {
    auto a = t.step(0, 1), b = t.step(1, 3);
    a.get();
    b.get();
  }
  CHECK(t.value() == -4);
  t.step(2, 1000).get();  // for step 0, which is over
  CHECK(t.value() == -4);
  CHECK(t.totals() == std::vector<std::int64_t>{4, 1, 2, 3});
  const auto late = t.sess->run(t.all[0].staleness);
  CHECK(late(0) == 4);
  CHECK(late(2) == 1);
  auto a = t.step(2, 10), b = t.step(0, 10);  // now it is in step with the others
  a.get();
  b.get();
  CHECK(t.value() == -14);
}

TEST_CASE("fewer replicas than are aggregated compute several gradients for a step") {
  team t(2, {.replicas_to_aggregate = 4, .total_num_replicas = 2});
  t.join();
  // Who comes last is let go to compute again, until there are four.
  auto loop = [&](int r) {
    return std::async(std::launch::async, [&t, r] {
      while (t.steps() < 1) t.step(r, 2).get();
    });
  };
  auto a = loop(0), b = loop(1);
  a.get();
  b.get();
  CHECK(t.value() == -2);
  CHECK(t.totals() == std::vector<std::int64_t>{4, 0, 1, 2});
}

TEST_CASE("a replica that leaves is waited for no longer") {
  team t(3, {.replicas_to_aggregate = 3});
  t.join();
  auto a = t.step(0, 2), b = t.step(1, 4);
  t.all[2].hook->end(*t.sess);
  a.get();
  b.get();
  CHECK(t.value() == -3);
  CHECK(t.totals() == std::vector<std::int64_t>{2, 0, 1, 2});
}

TEST_CASE("a replica that is not heard of is given up after a while, and may come back") {
  team t(2, {.replicas_to_aggregate = 2, .worker_timeout = 40ms});
  t.join();
  t.step(0, 2).get();
  CHECK(t.value() == -2);
  CHECK(t.totals() == std::vector<std::int64_t>{1, 0, 1, 1});
  t.step(1, 100).get();  // it did not know that step 0 is over
  CHECK(t.value() == -2);
  CHECK(t.totals()[3] == 2);
}

TEST_CASE("a replica that comes back is the one that it was") {
  team t(2, {.replicas_to_aggregate = 2, .worker_timeout = 1h}, false);
  t.join();
  t.all[1].hook->after_create_session(*t.sess, *t.coord.it);  // after a recovery
  t.all[1].hook->end(*t.sess);
  t.step(0, 2).get();
  CHECK(t.value() == -2);
}

TEST_CASE("when the chief ends, the others end with the end of input") {
  team t(2, {.replicas_to_aggregate = 2});
  t.join();
  auto waiting = t.step(1, 1);
  t.all[0].hook->end(*t.sess);
  CHECK(refusal(
            [&] {
              waiting.get();
              t.step(1, 1).get();  // in case the first was the last round
            },
            pn::errc::out_of_range, "training has ended") == "");
  t.coord.it->request_stop();
  t.coord.it->join();
}

#if PINION_HAS_PROTOZERO
TEST_CASE("what a barrier counts is shown as curves, and how late replicas came as a histogram") {
  team t(3, {.replicas_to_aggregate = 2, .total_num_replicas = 3});
  t.join();
  auto a = t.step(0, 1), b = t.step(1, 3);
  a.get();
  b.get();
  t.step(2, 1000).get();  // for step 0, which is over
  REQUIRE(t.shown.size() == 5);
  const wire_message all(std::string(t.sess->run(t.merged)));
  const auto tag = [&](std::size_t i) { return all.sub(1, i).text(1); };
  const auto number = [&](std::size_t i) { return all.sub(1, i).single(2); };
  CHECK(tag(0) + " " + tag(1) == "replica_0/sync_replicas/accepted replica_0/sync_replicas/dropped");
  CHECK(tag(2) + " " + tag(3) == "replica_0/sync_replicas/updates replica_0/sync_replicas/replicas");
  CHECK(std::array{number(0), number(1), number(2), number(3)} == std::array{2.f, 1.f, 1.f, 3.f});
  CHECK(tag(4) == "replica_0/sync_replicas/staleness");
  const wire_message late = all.sub(1, 4).sub(5);
  CHECK(late.real(3) == 3);  // steps of replicas
  CHECK(late.real(2) == 1);  // updates too late, at most
  CHECK(late.real(4) == 1);  // and of all together
}
#endif

TEST_CASE("a replica of the next training waits for its chief, on ps tasks that remember the one before") {
  team t(2, {.replicas_to_aggregate = 2});
  t.join();
  for (auto r : {1u, 0u}) t.all[r].hook->end(*t.sess);
  t.coord.it.reset();
  auto worker = std::async(std::launch::async, [&] {
    tr::coordinator mine;
    t.all[1].hook->after_create_session(*t.sess, mine);
    t.step(1, 2).get();
  });
  while (t.totals()[3] == 0) std::this_thread::yield();  // until it has entered
  t.all[0].hook->after_create_session(*t.sess, t.coord.emplace_or_get());
  t.step(0, 4).get();
  worker.get();
  CHECK(t.value() == -3);
}

TEST_CASE("a replica whose chief does not come finds training ended") {
  team t(2, {.replicas_to_aggregate = 2, .worker_timeout = 20ms});
  t.join();
  for (auto r : {1u, 0u}) t.all[r].hook->end(*t.sess);
  t.coord.it.reset();
  tr::coordinator mine;
  t.all[1].hook->after_create_session(*t.sess, mine);
  CHECK(refusal([&] { t.step(1, 2).get(); }, pn::errc::out_of_range, "training has ended") == "");
}

TEST_CASE_METHOD(own_session, "rows of several replicas update the variable together") {
  auto table = pn::variable(pn::tensor<float>::of({{1, 1}, {2, 2}, {3, 3}}), {.name = "table"});
  auto step = tr::get_or_create_global_step();
  auto rows = pn::placeholder<int>({pn::unknown}, "rows");
  tr::sync_replicas sync{tr::gradient_descent{{.learning_rate = 1}}, {.replicas_to_aggregate = 1}};
  auto train = sync.minimize(pn::reduce_sum(pn::gather(table, rows)), {.global_step = step});
  auto hook = sync.make_session_run_hook(true);
  sess.run(pn::global_variables_initializer());
  tr::coordinator coord;
  hook.after_create_session(sess, coord);
  sess.run({{rows, pn::tensor<int>::of({2, 0, 2})}}, train);
  CHECK(sess.run(table) == pn::tensor<float>::of({{0, 0}, {2, 2}, {1, 1}}));
  coord.request_stop();
  coord.join();
}

TEST_CASE("sync_replicas says what it needs") {
  pn::graph g;
  auto use = g.as_default();
  auto w = pn::variable(1.0f, {.name = "w"});
  tr::sync_replicas sync{tr::gradient_descent{{}}, {.replicas_to_aggregate = 2}};
  CHECK(refusal([&] { sync.make_session_run_hook(true); }, pn::errc::failed_precondition, "comes first") == "");
  CHECK(refusal([&] { sync.minimize(w * w, {}); }, pn::errc::invalid_argument, "global_step") == "");
}

TEST_CASE_METHOD(own_session, "the mean of sparse gradients is one of rows, and a replica may have looked none up") {
  auto table = pn::variable(pn::tensor<float>::of({{1, 1}, {2, 2}, {3, 3}}), {.name = "table"});
  auto ids = pn::placeholder<std::int32_t>({pn::unknown}, "ids");
  auto global_step = tr::get_or_create_global_step();
  std::vector<pn::operation> steps;
  std::vector<tr::sync_replicas_hook> hooks;
  for (int r = 0; r < 2; ++r) {
    pn::name_scope scope{"replica_" + std::to_string(r)};
    tr::sync_replicas sync{tr::gradient_descent{{.learning_rate = 1}}, {.replicas_to_aggregate = 2, .replica = r}};
    steps.push_back(sync.minimize(pn::reduce_sum(pn::gather(table, ids)), {.global_step = global_step}));
    hooks.push_back(sync.make_session_run_hook(r == 0));
  }
  auto init = pn::global_variables_initializer();
  tr::coordinator coord;
  sess.run(init);
  for (auto& hook : hooks) hook.after_create_session(sess, coord);
  const auto step = [&](int r, std::vector<std::int32_t> rows) {
    return std::async(std::launch::async, [this, &ids, &steps, r, rows] {
      const pn::tensor<std::int32_t> fed({static_cast<std::int64_t>(rows.size())}, rows);
      sess.run({{ids, fed}}, steps[static_cast<std::size_t>(r)]);
    });
  };
  auto a = step(0, {0, 0}), b = step(1, {2});
  a.get();
  b.get();
  CHECK(sess.run(table) == pn::tensor<float>::of({{0, 0}, {2, 2}, {2.5f, 2.5f}}));
  auto c = step(0, {1}), d = step(1, {});
  c.get();
  d.get();
  CHECK(sess.run(table) == pn::tensor<float>::of({{0, 0}, {1.5f, 1.5f}, {2.5f, 2.5f}}));
}
