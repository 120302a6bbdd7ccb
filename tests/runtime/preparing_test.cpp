// While one thread makes a step ready, others run theirs, and those who want the same one wait for it.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

namespace pn = pinion;
using namespace std::chrono_literals;

// A gate that one thread waits at until another opens it; the wait has an end.
struct gate {
  std::promise<void> opened;
  std::shared_future<void> open = opened.get_future().share();
  void pass() const {
    if (open.wait_for(60s) != std::future_status::ready) throw pn::error(pn::errc::deadline_exceeded, "nobody came");
  }
};

// The gate at which a step stands while it is placed, or while a kernel of it is made; of one test at a time.
struct halt {
  gate reached, go_on;
  std::atomic<int> stops{0};
  void stop() {
    if (stops++ == 0) reached.opened.set_value();
    go_on.pass();
  }
};
halt* now = nullptr;

bool has(const pn::placement_problem& p, const std::string& name) {
  return std::any_of(p.nodes.begin(), p.nodes.end(), [&](pn::node_id n) { return p.graph[n].name == name; });
}
struct halting_placer {
  pn::placement operator()(const pn::placement_problem& p) const {
    if (has(p, "slow")) now->stop();
    return pn::simple_placer{}(p);
  }
};

struct slow_to_make {
  static constexpr std::string_view name = "TestSlowToMake";
  static constexpr pn::input_count inputs = 1;
  static constexpr bool stateful = true;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating};
  static constexpr std::string_view no_gradient = "it is only for tests";
  static void infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static std::unique_ptr<pn::kernel> make_kernel(const pn::kernel_setup&) {
    now->stop();
    return pn::make_function_kernel([](pn::kernel_context& c) { c.outputs[0] = c.input(0); });
  }
};

struct world : own_graph {
  halt stands;
  pn::variable_handle<float> v = pn::variable(1.f, {.name = "v"});
  pn::expr<float> doubled = v * 2.f, slow = pn::identity(v + 1.f, "slow");
  pn::session sess;
  explicit world(const pn::session_options& o = {.placer = halting_placer{}}) : sess(o) {
    now = &stands;
    sess.run(v.initializer());
    sess.run(doubled);
  }
};

TEST_CASE("steps run, and others are found, while one is being placed") {
  world w;
  std::thread other([&] { CHECK(float(w.sess.run(w.slow)) == 2); });
  w.stands.reached.open.wait();
  CHECK(float(w.sess.run(w.doubled)) == 2);
  w.stands.go_on.opened.set_value();
  other.join();
}

TEST_CASE("steps run, and others are made ready, while a kernel of one is being made") {
  world w{{}};
  const auto y = pn::call<slow_to_make>(w.v);
  const auto fresh = w.v * 3.f, random = pn::random_uniform<float>({1}) * 0.f;
  std::thread other([&] { CHECK(float(w.sess.run(y)) == 1); });
  w.stands.reached.open.wait();
  CHECK(float(w.sess.run(w.doubled)) == 2);
  CHECK(float(w.sess.run(fresh)) == 3);
  CHECK(w.sess.run(random)(0) == 0);  // a stateful kernel, too
  w.stands.go_on.opened.set_value();
  other.join();
}

TEST_CASE("threads that want the same step make it once") {
  world w;
  w.stands.go_on.opened.set_value();
  std::atomic<int> right = 0;  // Catch checks in one thread at a time
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) all.emplace_back([&] { right += float(w.sess.run(w.slow)) == 2; });
  for (auto& t : all) t.join();
  CHECK(right == 4);
  CHECK(w.stands.stops == 1);
}

TEST_CASE("where a step cannot be made, all who wanted it are told, and it is tried again when it is wanted again") {
  world w;
  std::atomic<int> told{0};
  struct failing_placer {
    pn::placement operator()(const pn::placement_problem&) const { throw pn::error(pn::errc::aborted, "not today"); }
  };
  pn::session fails{{.graph = &w.g, .placer = failing_placer{}}};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] { told += failure([&] { fails.run(w.slow); }) == "aborted: not today"; });
  for (auto& t : all) t.join();
  CHECK(told == 4);
  CHECK(failure([&] { fails.run(w.slow); }) == "aborted: not today");
}

TEST_CASE("close waits for what is being made, and all who wait for that are told") {
  world w;
  std::string maker, waiter;
  std::thread first([&] { maker = failure([&] { w.sess.run(w.slow); }); });
  w.stands.reached.open.wait();
  std::thread second([&] { waiter = failure([&] { w.sess.run(w.slow); }); });
  std::atomic<bool> closed{false};
  std::thread third([&] {
    w.sess.close();
    closed = true;
  });
  second.join();
  const bool came_in_time = waiter == "cancelled: the session was closed while the step ran";
  CHECK((came_in_time || waiter == "failed_precondition: the session is closed"));
  CHECK_FALSE(closed);
  w.stands.go_on.opened.set_value();
  first.join();
  third.join();
  CHECK(maker == "cancelled: the session was closed while the step ran");
}

TEST_CASE("a step that others wait for is placed as one: what two of them share stays in one place") {
  for (int round = 0; round < 20; ++round) {
    pn::graph g;
    const auto use = g.as_default();
    const auto v = pn::variable(1.f, {.name = "v"});
    std::vector<pn::expr<float>> many;
    for (int k = 0; k < 4; ++k) many.push_back(v * float(k));
    pn::session sess{{.placer = pn::round_robin_placer{}, .cpu_devices = 3}};
    sess.run(v.initializer());
    std::atomic<int> right = 0;
    std::vector<std::thread> all;
    for (int k = 0; k < 4; ++k)
      all.emplace_back([&, k] { right += float(sess.run(many[std::size_t(k)])) == float(k); });
    for (auto& t : all) t.join();
    CHECK(right == 4);
  }
}

}  // namespace
