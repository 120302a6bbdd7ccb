// Placers in sessions, and costs measured while steps run.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
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
  g.pin(v.initializer().id(), parse_device("/cpu:0"), "here");
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
