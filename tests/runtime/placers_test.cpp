// Placers in sessions, and costs measured while steps run.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_file.hpp>

namespace {

using namespace pinion;

TEST_CASE("a session places by the placer it was given, and its values are the same") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({2, 2}, "x");
  auto v = variable(tensor<float>::of({{1, 2}, {3, 4}}), {.name = "v"});
  auto y = reduce_sum(matmul(x, v) + x);
  const auto ones = tensor<float>::of({{1, 1}, {1, 1}});
  for (const any_placer& placer :
       {any_placer(), any_placer(round_robin_placer{}), any_placer(one_device_placer{2}), any_placer(cost_placer{})}) {
    session sess{{.graph = &g, .placer = placer, .cpu_devices = 2, .simulated = {sim::gpu()}}};
    sess.run(v.initializer());
    CHECK(float(sess.run({{x, ones}}, y)) == 24);
  }
  session turn{{.graph = &g, .placer = round_robin_placer{}, .cpu_devices = 2}};
  CHECK(turn.plan(y).transfers().size() > 0);
}

// Puts every group of its n-th problem on the n-th device that may hold it, so that each call shows.
struct counting_placer {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  placement operator()(const placement_problem& p) const { return one_device_placer{(*calls)++}(p); }
};

struct counted_session : own_graph {
  counting_placer placer;
  session sess{{.placer = placer, .cpu_devices = 4}};
  int calls() const { return *placer.calls; }
};

TEST_CASE("a step is placed once, planned and run in any order") {
  for (const bool plans_first : {true, false}) {
    counted_session own;
    auto a = constant(1.f, "a");
    if (plans_first) own.sess.plan(a);
    own.sess.run(a);
    const auto p = own.sess.plan(a);
    CHECK((own.calls() == 1 && p.find("a")->reason == "first device"));
  }
}

TEST_CASE("a step is placed beside its own nodes that ran, not beside all that ever did") {
  own_graph own;
  const auto most = std::make_shared<std::size_t>(0);
  session sess{{.placer = [most](const placement_problem& p) {
    *most = std::max(*most, p.kept.size());
    return simple_placer{}(p);
  }}};
  const auto a = constant(1.f, "a");
  for (int i = 0; i < 20; ++i) sess.run(a + static_cast<float>(i));
  CHECK(*most == 1);
}

TEST_CASE("a step with feeds runs as it was planned without them") {
  counted_session own;
  (void)own.sess.plan(constant(0.f));
  auto x = placeholder<float>({}, "x");
  auto y = add(x, constant(1.f, "one"), "y");
  const auto p = own.sess.plan(y);
  step_trace trace;
  CHECK(float(own.sess.run(trace, {{x, tensor<float>(2.f)}}, y)) == 3);
  REQUIRE(trace.events.size() > 0);
  for (const auto& e : trace.events)
    if (e.node == "y" && e.kind == trace_event::compute) CHECK(e.device == p.device_of("y"));
  CHECK(own.calls() == 2);
  CHECK(to_string(own.sess.plan(y)) == to_string(p));
}

TEST_CASE("a plan is made anew once a node was pinned or the graph grew, and binds nobody") {
  counted_session own;
  auto a = constant(1.f, "a");
  CHECK_THAT(own.sess.plan(a).device_of("a"), Catch::EndsWith("CPU:0"));
  auto b = exp(a, "b");
  CHECK_THAT(own.sess.plan(a).device_of("a"), Catch::EndsWith("CPU:1"));
  dsl::pin(own.g, id_of(a), parse_device("/cpu:3"), "here");
  CHECK(own.sess.plan(a).find("a")->reason == "pinned by place at here");
  CHECK(own.calls() == 3);
}

TEST_CASE("a plan gives way to a step that ran its nodes elsewhere") {
  counted_session own;
  auto a = constant(1.f, "a");
  auto b = exp(a, "b");
  CHECK_THAT(own.sess.plan(b).device_of("a"), Catch::EndsWith("CPU:0"));
  own.sess.run(a);
  CHECK(own.sess.plan(b).find("a")->reason == "kept from an earlier run");
  CHECK_THAT(own.sess.plan(b).device_of("a"), Catch::EndsWith("CPU:1"));
  CHECK(own.calls() == 3);
}

TEST_CASE("the cost placer takes steps without nodes, and variables beyond the nominal memory of a CPU") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({}, "x");
  auto big = variable(zeros<float>({100'000'000}), {.name = "big"});  // never initialised: only placed
  session sess{{.graph = &g, .placer = cost_placer{}}};
  CHECK(float(sess.run({{x, tensor<float>(3.f)}}, x)) == 3);
  CHECK(sess.plan(big).nodes().size() > 0);
}

TEST_CASE("a control edge from a fed placeholder asks for nothing more") {
  graph g;
  const auto use = g.as_default();
  auto x = place<"/cpu:1">(placeholder<float>({}, "x"));
  const control_dependencies after{x};
  auto c = place<"/cpu:1">(constant(2.f, "c"));
  session sess{{.graph = &g, .cpu_devices = 2}};
  CHECK(float(sess.run({{x, tensor<float>(1.f)}}, c)) == 2);
}

TEST_CASE("a session that records costs tells what its nodes took, on streams too, and a file keeps it") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({64, 64}, "x");
  auto a = place<"/cpu:0">(matmul(x, x, {.name = "a"}));
  auto b = place<"/gpu:0">(matmul(a, x, {.name = "b"}));
  session sess{{.graph = &g, .record_costs = true, .simulated = {sim::gpu()}}};
  for (int i = 0; i < 3; ++i) sess.run({{x, tensor<float>{{64, 64}}}}, b);
  const auto costs = sess.measured_costs();
  REQUIRE(costs.find("a", "CPU"));
  REQUIRE(costs.find("b", "GPU"));
  CHECK(costs.find("a", "GPU") == nullptr);
  CHECK((costs.find("a", "CPU")->times == 3 && costs.find("b", "GPU")->times == 3));
  CHECK((costs.find("a", "CPU")->seconds > 0 && costs.find("b", "GPU")->seconds > 0));
  const temporary_file file;
  costs.save(file.path);
  CHECK(measured_costs::load(file.path) == costs);
  CHECK(sess.plan(b).find("a")->ends - sess.plan(b).find("a")->starts == Approx(costs.find("a", "CPU")->seconds));
}

TEST_CASE("the plan of a session tells the times by which its placer decided") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({64, 64}, "x");
  auto a = matmul(x, x, {.name = "a"});
  measured_costs measured;
  measured.add("a", "CPU", .25);
  session sess{{.graph = &g, .placer = cost_placer{{.measured = measured}}}};
  CHECK(sess.plan(a).makespan() == Approx(.25).epsilon(.01));
}

TEST_CASE("a session that was not asked to records nothing, and says so") {
  graph g;
  session sess{{.graph = &g}};
  CHECK(failure([&] { sess.measured_costs(); }) ==
        "failed_precondition: the session records no costs; it is made with .record_costs = true");
}

TEST_CASE("what placement gives up is logged, a line each") {
  graph g;
  const auto use = g.as_default();
  auto v = place<"/cpu:1">(variable(1.f, {.name = "v"}));
  dsl::pin(g, id_of(v.initializer()), parse_device("/cpu:0"), "here");
  std::string log;
  session sess{{.graph = &g,
                .log_device_placement = true,
                .placement_log = [&](std::string_view line) { log += std::string(line) + "\n"; },
                .cpu_devices = 2}};
  sess.run(v.initializer());
  CHECK_THAT(log,
             Catch::EndsWith(
                 "\nv/Assign: its request /device:CPU:0 was dropped: it works on 'v', which asks for /device:CPU:1\n"));
}

}  // namespace
