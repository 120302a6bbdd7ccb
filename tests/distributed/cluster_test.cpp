// Graphs over several tasks: where nodes go, what they compute there, and that values of every kind arrive.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <sstream>

#include <support/caught.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace real;

two_and_two& any_cluster() {
  return two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
}

TEST_CASE("many maps that are joined, and may fail to broadcast, run on another task, which names the one that fails") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>(shape::any(), "x"), y = placeholder<float>(shape::any(), "y");
  expr<float> z = x;
  {
    const device on{"/job:worker/task:1"};
    for (int i = 0; i < 7; ++i) {
      expr<float> next = add(z, y, "step" + std::to_string(i));
      z = next;
    }
  }
  session sess{toward(cluster.target("worker", 0))};
  CHECK(float(sess.run({{x, 1.f}, {y, 2.f}}, z)) == 15);
  CHECK(caught([&] {
          sess.run({{x, tensor<float>::of({1, 2})}, {y, tensor<float>::of({1, 2, 3})}}, z);
        }).node() == "step0");
}

// ---- placement

TEST_CASE("ops pinned to tasks run there, whichever task is the target") {
  auto& cluster = any_cluster();
  for (const auto& target : cluster.targets()) {
    fresh f;
    auto a = place<"/job:ps/task:0/cpu:0">(constant(1, "a"));
    expr<int> b;
    {
      const device on{"/job:worker/task:1"};
      b = a + 2;
    }
    auto c = a + b;
    session sess{toward(target)};
    CHECK(int(sess.run(c)) == 4);
    CHECK(sess.plan(c).device_of("a") == cpu_of("ps", 0));
    CHECK(sess.plan(c).device_of(b.name()) == cpu_of("worker", 1));
  }
}

TEST_CASE("a node without a request goes to the target") {
  auto& cluster = any_cluster();
  fresh f;
  auto c = constant(1, "c");
  CHECK(session{toward(cluster.target("worker", 1))}.plan(c).device_of("c") == cpu_of("worker", 1));
  CHECK(session{toward(cluster.target("ps", 0))}.plan(c).device_of("c") == cpu_of("ps", 0));
}

TEST_CASE("replica_device_setter spreads variables over ps tasks in turn") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{replica_device_setter{{.ps_tasks = 2}}};
  std::vector<variable_handle<float>> v;
  for (int i = 1; i <= 5; ++i) v.push_back(variable(static_cast<float>(i), {.name = "v" + std::to_string(i)}));
  auto sum = v[0] + v[1] + v[2] + v[3] + v[4];
  session sess{toward(cluster.target("worker", 0))};
  const auto p = sess.plan(sum);
  for (int i = 0; i < 5; ++i) CHECK(p.device_of("v" + std::to_string(i + 1)) == cpu_of("ps", i % 2));
  sess.run(global_variables_initializer());
  CHECK(float(sess.run(sum)) == 15);
}

TEST_CASE("nested guards say which task and which device, and soft placement does without a GPU") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{replica_device_setter{{.ps_tasks = 2}}};
  auto v1 = variable(1.f, {.name = "v1"}), v2 = variable(2.f, {.name = "v2"});
  auto s = v1 + v2;
  const device gpu{"/gpu:0"};
  auto p1 = 2.f * s;
  const device second{"/task:1"};
  auto p2 = 3.f * s;
  auto options = toward(cluster.target("worker", 0));
  options.allow_soft_placement = true;
  session sess{options};
  sess.run(v1.initializer(), v2.initializer());
  const auto [x, y, z] = sess.run(s, p1, p2);
  CHECK((float(x) == 3 && float(y) == 6 && float(z) == 9));
  CHECK(sess.plan(p2).device_of(p2.name()) == cpu_of("worker", 1));
}

TEST_CASE("the task that a session targets places by its own placer, and the plan that comes back is whole") {
  local_cluster cluster({{"ps", 1}, {"worker", 1}}, {.placer = round_robin_placer{}});
  fresh f;
  auto a = place<"/cpu:0">(placeholder<int>({}, "a"));
  auto b = identity(a, "b"), c = identity(b, "c");
  session sess{{.target = cluster.target("worker", 0), .operation_timeout = 20s}};
  sess.list_devices();  // so that all tasks are known
  CHECK(int(sess.run({{a, 1}}, c)) == 1);
  const auto p = sess.plan(c);
  CHECK(p.device_of("b") != p.device_of("c"));
  CHECK((p.transfers().size() > 0 && p.edges().size() == 2 && p.totals().size() == 2));
  CHECK_THAT(p.to_html(), Catch::Contains("/job:ps/replica:0/task:0/device:CPU:0"));
}

TEST_CASE("a master places a step once, though it is planned and run") {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto counting = [calls](const placement_problem& p) {
    ++*calls;
    return simple_placer{}(p);
  };
  local_cluster cluster({{"worker", 1}}, {.placer = counting});
  fresh f;
  auto x = placeholder<float>({}, "x");
  auto y = x + 1.f;
  session sess{toward(cluster.target("worker", 0))};
  const auto p = sess.plan(y);
  CHECK(float(sess.run({{x, tensor<float>(2.f)}}, y)) == 3);
  CHECK(to_string(sess.plan(y)) == to_string(p));
  CHECK(*calls == 1);
}

TEST_CASE("the plan of a session on a cluster shows the step that would run") {
  auto& cluster = any_cluster();
  fresh f;
  auto a = constant<float>({{1, 2}}, "a");
  auto b = transpose(a, {1, 0}, "b");
  auto plain = toward(cluster.target("worker", 0));
  plain.optimize = false;
  const auto p = session{toward(cluster.target("worker", 0))}.plan(b);
  CHECK((p.find("a")->optimized == "folded into b" && !p.find("a")->runs));
  CHECK((p.find("b")->optimized == "computed once, before the step" && p.edges().empty()));
  CHECK(session{plain}.plan(b).edges().size() == 1);
}

TEST_CASE("a session on a cluster brings no placer, records no costs and limits no memory, and says who does") {
  local_cluster cluster({{"worker", 1}});
  fresh f;
  const session_options toward_it{.target = cluster.target("worker", 0)};
  auto placing = toward_it, recording = toward_it, limited = toward_it;
  placing.placer = round_robin_placer{};
  recording.record_costs = true;
  limited.memory_limit = 1 << 20;
  CHECK_THAT(failure([&] { session s{placing}; }),
             Catch::Contains("give that server its placer: server_options.config.placer"));
  CHECK_THAT(failure([&] { session s{recording}; }),
             Catch::StartsWith("unimplemented: costs are recorded by sessions of one process"));
  CHECK_THAT(failure([&] { session s{limited}; }),
             Catch::StartsWith("unimplemented: a memory_limit is kept by sessions of one process"));
}

TEST_CASE("without soft placement a GPU that is not there is refused, and the node is named") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:1/gpu:0"};
  auto x = constant(1.f, "x");
  const int line = __LINE__ - 1;
  session sess{toward(cluster.target("worker", 0))};
  const auto e = caught([&] { sess.run(x); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() == "x");
  CHECK(line_of(e) == here(line));
}

TEST_CASE("a task that the cluster has not is refused, and the node is named") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:7"};
  auto x = constant(1.f, "x");
  session sess{toward(cluster.target("worker", 0))};
  const auto e = caught([&] { sess.run(x); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() == "x");
}

TEST_CASE("a session lists the devices of all tasks") {
  auto& cluster = any_cluster();
  fresh f;
  std::string all;
  for (const auto& d : session{toward(cluster.target("ps", 1))}.list_devices()) all += d.name + " ";
  CHECK(all == cpu_of("ps", 0) + " " + cpu_of("ps", 1) + " " + cpu_of("worker", 0) + " " + cpu_of("worker", 1) + " ");
}

TEST_CASE("device filters hide tasks from a session") {
  auto& cluster = any_cluster();
  fresh f;
  auto options = toward(cluster.target("worker", 0));
  options.device_filters = {"/job:ps/task:1"};
  std::string all;
  for (const auto& d : session{options}.list_devices()) all += d.name + " ";
  CHECK(all == cpu_of("ps", 1) + " " + cpu_of("worker", 0) + " ");
}

TEST_CASE("each node is logged once, when it is placed") {
  auto& cluster = any_cluster();
  fresh f;
  auto a = place<"/job:ps/task:0">(constant(1.f, "a"));
  auto b = identity(a, "b");
  std::ostringstream log;
  auto options = toward(cluster.target("worker", 0));
  options.log_device_placement = true;
  options.placement_log = log;
  session sess{options};
  sess.run(a);
  sess.run(b);
  sess.run(b);
  CHECK(log.str() == "a: (Const): " + cpu_of("ps", 0) + "\nb: (Identity): " + cpu_of("worker", 0) + "\n");
}

TEST_CASE("a plan runs nothing") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:1"};
  auto v = variable(1.f, {.name = "v"});
  session sess{toward(cluster.target("worker", 0))};
  CHECK(sess.plan(v.initializer()).device_of("v") == cpu_of("ps", 1));
  CHECK(caught([&] { sess.run(v); }).code() == errc::failed_precondition);
}

// ---- steps

TEST_CASE("a graph may grow between runs") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(2.f, {.name = "v"}));
  session sess{toward(cluster.target("worker", 0))};
  sess.run(v.initializer());
  expr<float> y = v;
  for (int i = 0; i < 6; ++i) {
    const device on{i % 2 ? "/job:worker/task:1" : "/job:ps/task:1"};
    y = identity(y * 2.f);
    REQUIRE(float(sess.run(y)) == static_cast<float>(4 << i));
  }
}

TEST_CASE("a callable feeds and fetches at other tasks") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>({unknown}, "x");
  auto v = place<"/job:ps/task:1">(variable(0.f, {.name = "v"}));
  auto y = place<"/job:worker/task:1">(reduce_sum(x));
  session sess{toward(cluster.target("worker", 0))};
  sess.run(v.initializer());
  auto step = sess.make_callable(feeds(x), fetches(y), targets(assign_add(v, y)));
  for (std::int64_t n = 1; n <= 4; ++n) {
    const auto [sum] = step(tensor<float>({n}, std::vector<float>(static_cast<std::size_t>(n), 2.f)));
    CHECK(float(sum) == 2 * static_cast<float>(n));
  }
  CHECK(float(sess.run(v)) == 20);
}

TEST_CASE("control dependencies order effects across tasks") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(0, {.name = "v"}));
  auto w = place<"/job:ps/task:1">(variable(0, {.name = "w"}));
  auto put = assign_add(v, 1);
  expr<int> copied;
  {
    const control_dependencies order{put};
    copied = assign(w, v.read());
  }
  expr<int> seen;
  {
    const control_dependencies order{operation(copied)};
    const device on{"/job:worker/task:1"};
    seen = identity(w.read());
  }
  session sess{toward(cluster.target("worker", 0))};
  sess.run(v.initializer(), w.initializer());
  for (int i = 1; i <= 20; ++i) REQUIRE(int(sess.run(seen)) == i);
}

TEST_CASE("a control dependency alone crosses tasks") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(0, {.name = "v"}));
  operation last = operation(assign_add(v, 1));
  for (int i = 0; i < 9; ++i) {
    const control_dependencies order{last};
    const device on{i % 2 ? "/job:worker/task:0" : "/job:ps/task:1"};
    last = no_op();
  }
  expr<int> seen;
  {
    const control_dependencies order{last};
    seen = v.read();
  }
  session sess{toward(cluster.target("worker", 1))};
  sess.run(v.initializer());
  for (int i = 1; i <= 5; ++i) REQUIRE(int(sess.run(seen)) == i);
}

TEST_CASE("a value may go to and fro between tasks many times") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>({3}, "x");
  expr<float> y = x;
  for (int i = 0; i < 100; ++i) {
    const device on{i % 2 ? "/job:ps/task:0" : "/job:worker/task:1"};
    y = identity(y);
  }
  session sess{toward(cluster.target("worker", 0))};
  CHECK(sess.run({{x, tensor<float>::of({1, 2, 3})}}, y) == tensor<float>::of({1, 2, 3}));
}

TEST_CASE("a fed value stands for its producer on another task") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:0"};
  auto v = variable(1.f, {.name = "v"});
  auto y = v * 2.f;
  session sess{toward(cluster.target("worker", 0))};
  CHECK(float(sess.run({{v, 21.f}}, y)) == 42);
}

// ---- values

template <class T>
tensor<T> sample(const shape& extent) {
  tensor<T> t(extent);
  int i = 0;
  for (T& e : t.span()) {
    ++i;
    if constexpr (std::is_same_v<T, std::string>)
      e = std::string(static_cast<std::size_t>(i * 37 % 100), static_cast<char>(i));
    else
      e = static_cast<T>(i % 3);
  }
  return t;
}

// Fed at the target, sent round two tasks, and fetched.
template <class T>
tensor<T> sent_round(two_and_two& cluster, const tensor<T>& value) {
  fresh f;
  auto x = placeholder<T>(shape::any(), "x");
  auto there = place<"/job:ps/task:1">(identity(x));
  auto on = place<"/job:worker/task:1">(identity(there));
  session sess{toward(cluster.target("worker", 0))};
  return sess.run({{x, value}}, on);
}

TEMPLATE_TEST_CASE("values of every dtype and shape cross tasks", "", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, std::string) {
  auto& cluster = any_cluster();
  for (const shape& extent : {shape{}, shape{1}, shape{0}, shape{3, 0, 2}, shape{2, 3, 5}}) {
    const auto value = sample<TestType>(extent);
    CHECK(sent_round(cluster, value) == value);
  }
}

TEST_CASE("a fetch from another task comes as it is") {
  auto& cluster = any_cluster();
  fresh f;
  auto c = place<"/job:ps/task:0">(constant<float>({{1, 2}, {3, 4}}, "c"));
  session sess{toward(cluster.target("worker", 0))};
  CHECK(sess.run(c) == tensor<float>::of({{1, 2}, {3, 4}}));
}

TEST_CASE("values far beyond the credit cross tasks") {
  auto& cluster = any_cluster();
  const auto value = sample<float>({10, 1024, 1024});
  CHECK(sent_round(cluster, value) == value);
}

TEST_CASE("many large values at once cross tasks") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>({1024, 512}, "x");
  std::vector<expr<float>> parts;
  for (int i = 0; i < 12; ++i) {
    const device on{"/job:ps/task:0"};
    auto there = identity(x + static_cast<float>(i));
    const device back{"/job:worker/task:1"};
    parts.push_back(reduce_mean(there));
  }
  expr<float> sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  session sess{toward(cluster.target("worker", 0))};
  for (int i = 0; i < 3; ++i) REQUIRE(float(sess.run({{x, tensor<float>({1024, 512})}}, sum)) == 66);
}

TEST_CASE("long strings cross tasks") {
  auto& cluster = any_cluster();
  tensor<std::string> value({3});
  value(0) = std::string(3'000'000, 'x');
  value(2) = std::string("a\0b", 3);
  CHECK(sent_round(cluster, value) == value);
}

}  // namespace
