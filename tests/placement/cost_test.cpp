// Costs: estimates, measurements, simulated steps, and the placers that use them.
#include <pinion/graph.hpp>
#include <pinion/placement/cost/earliest_finish.hpp>
#include <pinion/placement/cost/simulate.hpp>

#include <catch2/catch.hpp>

#include <random>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/temporary_file.hpp>

namespace {

using namespace pinion;
using Catch::Contains;

const device_spec worker = parse_device("/job:worker/task:0");

sim::machine gpus(int count, std::int64_t memory = 0) {
  sim::machine m({1e9, 1e-6}, {1e8, 1e-5});
  m.add("/job:worker/task:0", {.type = "CPU"});
  m.add("/job:worker/task:0",
        {.count = count, .flops = 1e12, .memory_bandwidth = 1e12, .launch = 1e-6, .memory_limit = memory});
  return m;
}

plan planned(const sim::machine& m, const any_placer& placer, std::initializer_list<operation> fetches) {
  return make_plan(default_graph(), m.devices(), placer, fetches, {.home = worker, .costs = m.costs()});
}

expr<float> product(expr<float> x, const std::string& name, std::int64_t width = 256) {
  auto W = variable(zeros<float>({width, width}), {.name = name});
  return matmul(x, W);
}

// ---- estimates

TEST_CASE("a matrix product takes two operations for each of m x k x n, a map its program for each element") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({10, 20}, "x"), y = placeholder<float>({30, 20}, "y");
  auto z = matmul(x, y, {.transpose_b = true});
  auto e = exp(z);
  const auto work = [&](const operation& o) {
    return library_ops().work(g[id_of(o)], work_context(g, g[id_of(o)], 1));
  };
  CHECK(work(z) == 2 * 10 * 20 * 30);
  CHECK(work(e) >= 10 * 30);
  CHECK(work(reduce_sum(z)) == 300);
}

TEST_CASE("an unknown dimension counts as the model says") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({unknown, 20}, "x"), y = placeholder<float>({20, 5}, "y");
  auto z = matmul(x, y);
  CHECK(library_ops().work(g[id_of(z)], work_context(g, g[id_of(z)], 64)) == 2 * 64 * 20 * 5);
}

TEST_CASE("a node takes its launch and the longer of computing and moving bytes, or what was measured") {
  graph g;
  const auto use = g.as_default();
  auto m = gpus(1);
  auto x = placeholder<float>({1000, 1000}, "x");
  auto z = matmul(x, x, {.name = "z"});
  const placement_problem p{.graph = g, .nodes = {id_of(x), id_of(z)}, .devices = m.devices()};
  const placing work(p);
  CHECK(step_costs(p, work.groups(), m.costs()).seconds(1, 1) == Approx(1e-6 + 2e9 / 1e12));
  m.costs().measured.add("z", "GPU", .25);
  const step_costs measured(p, work.groups(), m.costs());
  CHECK(measured.seconds(1, 1) == Approx(.25));
  CHECK(measured.seconds(1, 0) == Approx(1e-6 + 2e9 / 5e10));  // not on this type
}

// ---- measurements

TEST_CASE("a cost file comes back as it went out") {
  temporary_file file;
  measured_costs costs;
  costs.add("a", "CPU", 1. / 3);
  costs.add("a", "CPU", 1.);
  costs.add("layer/b", "GPU", 1e-7, 5);
  for (int i = 1; i < 100; ++i) costs.add("n" + std::to_string(i), "CPU", 1e-5 / i, 3);
  costs.save(file.path);
  CHECK(measured_costs::load(file.path) == costs);
  CHECK(costs.find("a", "CPU")->seconds == Approx(2. / 3));
  CHECK(costs.find("a", "GPU") == nullptr);
}

TEST_CASE("what is no cost file is refused with its line") {
  temporary_file file;
  CHECK(failure([&] { measured_costs::load(file.path + "x"); }) ==
        "not_found: there is no cost file '" + file.path + "x'");
  for (const char* bad : {"", "something else\n", "pinion costs 2\n"}) {
    file.write(bad);
    CHECK_THAT(failure([&] { measured_costs::load(file.path); }),
               Catch::StartsWith("data_loss: " + file.path + ":1: not a cost file"));
  }
  for (const char* bad : {"a\tCPU\t1", "a\tCPU\tx\t1", "a\tCPU\t-1\t1", "a\tCPU\t1\t0", "a\tCPU\t1\t1\tmore",
                          "a\tCPU\tinf\t1", "a\tCPU\tnan\t1"}) {
    file.write("pinion costs 1\nok\tCPU\t1\t1\n" + std::string(bad) + "\n");
    CHECK_THAT(failure([&] { measured_costs::load(file.path); }),
               Catch::StartsWith("data_loss: " + file.path + ":3: "));
  }
  CHECK_THAT(failure([] { measured_costs{}.save("/nowhere/at/all"); }), Catch::StartsWith("unavailable: cannot write"));
}

// ---- simulated steps

TEST_CASE("a device runs one node at a time, and a value crosses once to each other device") {
  graph g;
  const auto use = g.as_default();
  const auto m = gpus(2);
  auto x = placeholder<float>({1000, 1000}, "x");
  auto a = matmul(x, x, {.name = "a"});
  auto b = matmul(a, x, {.name = "b"}), c = matmul(a, x, {.name = "c"});
  const placement_problem p{.graph = g, .nodes = {id_of(x), id_of(a), id_of(b), id_of(c)}, .devices = m.devices()};
  const placing work(p);
  const step_costs costs(p, work.groups(), m.costs());
  const double one = costs.seconds(1, 1);
  const std::int32_t together[] = {1, 1, 1, 1}, apart[] = {1, 1, 2, 2};
  CHECK(simulate(costs, together).makespan == Approx(3 * one));
  CHECK(simulate(costs, together).transfers.empty());
  const auto s = simulate(costs, apart);
  const double sent = m.costs().within_task.seconds(4e6);
  CHECK(s.transfers.size() == 2);  // x and a, once each
  CHECK(s.makespan == Approx(std::max(one + sent, sent) + 2 * one));
  CHECK(s.busy[2] == Approx(2 * one));
  CHECK(s.peak[1] == 8000000);
  CHECK(s.unlimited_peak == s.peak);
}

TEST_CASE("values that are received late take less memory at once") {
  graph g;
  const auto use = g.as_default();
  const auto m = gpus(2);
  expr<float> end = placeholder<float>({1000, 1000}, "x");
  std::vector<std::int32_t> device{1};
  std::vector<node_id> nodes{id_of(end)};
  for (int i = 0; i < 12; ++i) {
    const auto w = placeholder<float>({1000, 1000}, "w");
    end = matmul(end, w);
    nodes.insert(nodes.end(), {id_of(w), id_of(end)});
    device.insert(device.end(), {1, 2});
  }
  const placement_problem p{.graph = g, .nodes = nodes, .devices = m.devices()};
  const placing work(p);
  const step_costs costs(p, work.groups(), m.costs());
  const auto s = simulate(costs, device, 8000000);
  CHECK(s.unlimited_peak[2] == 60000000);  // all that are received, and the products of two nodes
  CHECK(s.peak[2] == 24000000);            // two, the two before them, and those products
  CHECK(s.makespan == simulate(costs, device).makespan);
}

// ---- placers

TEST_CASE("independent work is spread, dependent work is not") {
  graph g;
  const auto use = g.as_default();
  auto m = gpus(2);
  m.costs().within_task.bandwidth = 1e11;
  auto x = placeholder<float>({256, 256}, "x");
  auto a = product(product(product(x, "W1"), "W2"), "W3");
  auto b = product(product(product(x, "V1"), "V2"), "V3");
  const auto both = planned(m, cost_placer{m.costs()}, {a, b});
  CHECK(both.device_of("MatMul_2") != both.device_of("MatMul_5"));
  CHECK(both.device_of("MatMul") == both.device_of("MatMul_2"));
  const auto one = planned(m, cost_placer{m.costs()}, {a});
  CHECK(one.transfers().empty());
  CHECK_THAT(both.find("MatMul_2")->reason, Catch::StartsWith("cost: done ") && Catch::EndsWith(" us into the step"));
}

TEST_CASE("pins, colocation and missing kernels hold for every placer") {
  graph g;
  const auto use = g.as_default();
  auto m = gpus(2);
  m.add("/job:worker/task:0", {.count = 1, .flops = 1e15, .lacks = {"MatMul"}});
  auto x = placeholder<float>({256, 256}, "x");
  auto pinned = place<"/gpu:1">(matmul(x, x, {.name = "pinned"}));
  auto v = variable(zeros<float>({256, 256}), {.name = "v"});
  auto up = assign_add(v, matmul(x, x, {.name = "free"}));
  auto count = variable(1, {.name = "count"});
  for (const any_placer& placer :
       {any_placer(cost_placer{m.costs()}), any_placer(cost_placer{m.costs(), 0}), any_placer(heft_placer{m.costs()}),
        any_placer(round_robin_placer{}), any_placer(one_device_placer{3}), any_placer(simple_placer{})}) {
    const auto p = planned(m, placer, {pinned, up, count});
    CHECK(p.device_of("pinned") == "/job:worker/replica:0/task:0/device:GPU:1");
    CHECK(p.device_of("AssignAdd") == p.device_of("v"));
    CHECK(p.device_of("free") != "/job:worker/replica:0/task:0/device:GPU:2");
    CHECK(p.device_of("count") == "/job:worker/replica:0/task:0/device:CPU:0");
  }
}

TEST_CASE("a request for a device that lacks the op says so") {
  graph g;
  const auto use = g.as_default();
  sim::machine m;
  m.add("/job:worker/task:0", {.lacks = {"MatMul"}});
  auto x = placeholder<float>({2, 2}, "x");
  auto z = matmul(x, x, {.name = "z"});
  CHECK_THAT(caught([&] { planned(m, simple_placer{}, {z}); }).sentence(),
             Contains("/job:worker/replica:0/task:0/device:GPU:0 lacks MatMul"));
}

TEST_CASE("a device may lack any number of ops that are not to be placed") {
  graph g;
  const auto use = g.as_default();
  std::vector<std::string> others{"MatMul"};
  for (int i = 0; i < 100; ++i) others.push_back("Other" + std::to_string(i));
  sim::machine m;
  m.add("/job:worker/task:0", {.lacks = others});
  auto x = placeholder<float>({2, 2}, "x");
  CHECK(planned(m, simple_placer{}, {exp(x)}).device_of("Exp") == "/job:worker/replica:0/task:0/device:GPU:0");
}

TEST_CASE(
    "memory is a hard limit: variables that do not fit on one device are spread, and what fits nowhere is refused") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({8, 256}, "x");
  auto y = product(product(product(product(x, "A"), "B"), "C"), "D");  // four variables of 256 KiB
  const auto enough = gpus(2), tight = gpus(2, 700 << 10);
  CHECK(planned(enough, cost_placer{enough.costs()}, {y}).transfers().empty());
  const auto p = planned(tight, cost_placer{tight.costs()}, {y});
  for (std::size_t d = 1; d < 3; ++d) CHECK(p.totals()[d].peak <= 700 << 10);
  CHECK((p.totals()[1].variables > 0 || p.totals()[0].variables > 0));
  sim::machine none;
  none.add("/job:worker/task:0", {.memory_limit = 300 << 10});
  const auto e = caught([&] { planned(none, cost_placer{none.costs()}, {y}); });
  CHECK(e.code() == errc::resource_exhausted);
  CHECK_THAT(e.sentence(), Contains("GPU:0 would need ") && Contains(" of its 307200 bytes"));
}

TEST_CASE("measured costs move work") {
  graph g;
  const auto use = g.as_default();
  auto m = gpus(1);
  auto x = placeholder<float>({256, 256}, "x");
  auto z = matmul(x, x, {.name = "z"});
  CHECK(planned(m, cost_placer{m.costs()}, {z}).device_of("z") == "/job:worker/replica:0/task:0/device:GPU:0");
  m.costs().measured.add("z", "GPU", 1);
  CHECK(planned(m, cost_placer{m.costs()}, {z}).device_of("z") == "/job:worker/replica:0/task:0/device:CPU:0");
}

TEST_CASE("work stays where it is usual, unless a move gains more than estimates are good for") {
  graph g;
  const auto use = g.as_default();
  auto m = gpus(2);
  auto x = placeholder<float>({256, 256}, "x");
  auto z = matmul(x, x, {.name = "z"});
  auto small = x + 1.f;  // beside the product, on another device, it would gain some of its launch
  const operation last = group(operation(z), operation(small));
  m.costs().within_task = {1e18, 0};
  m.costs().measured.add("z", "GPU", 1e-4);
  m.costs().measured.add(small.name(), "GPU", 1e-6);
  const auto plan = planned(m, cost_placer{m.costs()}, {last});
  CHECK(plan.device_of("z") == plan.device_of(small.name()));
  const cost_placer strict{.costs = m.costs(), .least_gain = 0};
  CHECK(planned(m, strict, {last}).device_of("z") != planned(m, strict, {last}).device_of(small.name()));
}

TEST_CASE("where estimates were wrong for what was measured, other work moves for a gain beyond that alone") {
  graph g;
  const auto use = g.as_default();
  auto m = gpus(2);
  m.costs().within_task = {1e18, 0};
  auto x = placeholder<float>({256, 256}, "x");
  auto before = matmul(x, x, {.name = "before"});  // an estimate of 35 us
  auto a = matmul(before, x, {.name = "a"}), b = matmul(before, before, {.name = "b"});
  const operation last = group(operation(a), operation(b));
  const auto spread = [&](double measured) {  // its step saves 35 us
    m.costs().measured = {};
    m.costs().measured.add("before", "GPU", measured);
    const auto plan = planned(m, cost_placer{m.costs()}, {last});
    return plan.device_of("a") != plan.device_of("b");
  };
  CHECK(spread(3.5e-5));
  CHECK_FALSE(spread(1e-4));
  CHECK(spread(1e-9));  // next to nothing was measured
}

TEST_CASE("a placer that thinks gives one answer, and never a worse one than those it tries") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    graph g;
    const auto use = g.as_default();
    std::mt19937 random(seed);
    std::vector<expr<float>> made{placeholder<float>({128, 128}, "x"), placeholder<float>({128, 128}, "y")};
    for (int i = 0; i < 12; ++i) made.push_back(matmul(made[random() % made.size()], made[random() % made.size()]));
    const auto m = gpus(3);
    const operation last = made.back();
    const cost_placer strict{.costs = m.costs(), .least_gain = 0};
    const auto p = planned(m, strict, {last});
    CHECK(diff(p, planned(m, strict, {last})).empty());
    CHECK(planned(m, cost_placer{m.costs()}, {last}).makespan() <= p.makespan() * 1.0200001);
    for (const any_placer& other : {any_placer(heft_placer{m.costs()}), any_placer(round_robin_placer{}),
                                    any_placer(simple_placer{}), any_placer(one_device_placer{1})})
      CHECK(p.makespan() <= planned(m, other, {last}).makespan() * 1.0000001);
  }
}

// ---- users' own

TEST_CASE("a placer may put a group only where it may stand, and must put every group somewhere") {
  graph g;
  const auto use = g.as_default();
  const auto m = gpus(1);
  auto count = variable(1, {.name = "count"});
  const auto wrong = [](const placement_problem& p) {
    placing work(p);
    for (const auto group : work.left()) work.put(group, 1);
    return work.result();
  };
  const auto e = caught([&] { planned(m, wrong, {count}); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.sentence(),
             Catch::StartsWith("the placer put 'count' on /job:worker/replica:0/task:0/device:GPU:0, which may "
                               "not hold it: VariableV2 has no int32 kernel on GPU"));
  const auto lazy = [](const placement_problem& p) { return placing(p).result(); };
  CHECK_THAT(caught([&] { planned(m, lazy, {count}); }).sentence(), Contains("gave 'count' no device"));
  const auto far = [](const placement_problem& p) {
    placing work(p);
    work.put(0, 99);
    return work.result();
  };
  CHECK_THAT(caught([&] { planned(m, far, {count}); }).sentence(), Contains("on device 99, which is not there"));
}

TEST_CASE("a task of a simulated machine has a name") {
  sim::machine m;
  CHECK_THAT(caught([&] { m.add("/job:worker", {}); }).sentence(), Contains("names no task"));
  m.add("/job:a/task:1", {.count = 2}).add("/job:a/task:1", {.count = 1});
  CHECK(m.devices()[2].name == "/job:a/replica:0/task:1/device:GPU:2");
}

}  // namespace
