// Bounded staleness: how far ahead a replica may get, and who is waited for.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {
namespace pn = pinion;
namespace tr = pinion::train;
using namespace std::chrono_literals;

struct ssp_team : own_graph {
  // Hooks of some replicas run: by default of all.
  ssp_team(int replicas, tr::ssp_options o, std::size_t first_there = 0) {
    o.total_num_replicas = replicas;
    w = pn::variable(0.0f, {.name = "w"});
    auto global_step = tr::get_or_create_global_step();
    for (int r = 0; r < replicas; ++r) {
      pn::name_scope scope{"replica_" + std::to_string(r)};
      o.replica = r;
      tr::ssp rule{tr::gradient_descent{{.learning_rate = 1}}, o};
      steps.push_back(rule.minimize(w * -1.0f, {.global_step = global_step}));
      ahead.push_back(rule.steps_ahead());
      if (r == 0) {
        counts = rule.counts();
        for (const auto& s : rule.summaries()) shown.push_back(s.node().attrs.get<std::string>("tag"));
      }
      hooks.push_back(rule.make_session_run_hook(r == 0));
    }
    auto init = pn::global_variables_initializer();
    sess.emplace();
    sess->run(init);
    coord.emplace();
    for (std::size_t r = first_there; r < hooks.size(); ++r) hooks[r].after_create_session(*sess, *coord);
  }
  ~ssp_team() {
    coord->request_stop();
    coord->join();
  }
  std::vector<std::int64_t> totals() {
    const auto all = sess->run(counts.totals);
    return {all.span().begin(), all.span().end()};
  }
  std::int64_t step(std::size_t r) { return std::int64_t(sess->run(ahead[r])); }

  pn::variable_handle<float> w;
  std::vector<pn::operation> steps;
  std::vector<pn::expr<std::int64_t>> ahead;
  tr::ssp_counts counts;
  std::vector<std::string> shown;
  std::vector<tr::ssp_hook> hooks;
  std::optional<pn::session> sess;
  std::optional<tr::coordinator> coord;
};

}  // namespace

TEST_CASE("a replica gets so far ahead of the slowest, and then waits for it") {
  ssp_team t(2, {.staleness = 2});
  CHECK(t.step(0) == 1);
  CHECK(t.step(0) == 2);
  auto third = std::async(std::launch::async, [&] { return t.step(0); });
  while (float(t.sess->run(t.w)) < 3) std::this_thread::yield();  // its update is made at once
  CHECK(t.step(1) == 0);
  CHECK(third.get() == 2);
  CHECK(float(t.sess->run(t.w)) == 4);
}

TEST_CASE("clocks count the steps, those that had to wait, and how far ahead they ended") {
  ssp_team t(2, {.staleness = 1});
  CHECK(t.step(0) == 1);
  auto second = std::async(std::launch::async, [&] { return t.step(0); });
  while (t.totals()[1] == 0) std::this_thread::yield();
  CHECK(t.step(1) == 0);
  CHECK(second.get() == 1);
  CHECK(t.totals() == std::vector<std::int64_t>{3, 1, 2});
  const auto ahead = t.sess->run(t.counts.ahead);
  CHECK(ahead(0) == 1);
  CHECK(ahead(1) == 2);
  CHECK(t.shown == std::vector<std::string>{"replica_0/ssp/steps", "replica_0/ssp/waits", "replica_0/ssp/replicas",
                                            "replica_0/ssp/steps_ahead"});
}

TEST_CASE("a replica that leaves, or falls silent, holds nobody up") {
  ssp_team left(3, {.staleness = 0});
  left.hooks[1].end(*left.sess);
  auto other = std::async(std::launch::async, [&] { return left.step(2); });
  CHECK(left.step(0) == 0);
  CHECK(other.get() == 0);
  ssp_team silent(2, {.staleness = 0, .worker_timeout = 40ms});
  CHECK(silent.step(0) == 0);
  CHECK(silent.step(0) == 0);
  CHECK(silent.step(1) == 0);  // it is back, and no further behind than the others
}

TEST_CASE("a chief that falls silent holds nobody up either") {
  ssp_team t(2, {.staleness = 0, .worker_timeout = 40ms}, 1);
  CHECK(t.step(1) == 0);
  CHECK(t.step(1) == 0);
}

TEST_CASE("ssp says what it needs") {
  pn::graph g;
  auto use = g.as_default();
  auto w = pn::variable(1.0f, {.name = "w"});
  tr::ssp rule{tr::gradient_descent{{}}, {.staleness = 1}};
  CHECK(refusal([&] { rule.make_session_run_hook(true); }, pn::errc::failed_precondition, "comes first") == "");
  CHECK(refusal([&] { rule.minimize(w * w, {}); }, pn::errc::invalid_argument, "global_step") == "");
}
