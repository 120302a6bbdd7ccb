// What tasks keep: variables by container and name, seen by every session, changed by one at a time.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <pinion/train.hpp>

#include <support/caught.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace real;

two_and_two& any_cluster() {
  return two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
}

// ---- between sessions

TEST_CASE("what one session assigns, another one at the same server sees; under another name scope it is another") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = variable(0, {.name = "x"});
  auto up = assign_add(x, 1);
  graph second;
  const auto use = second.as_default();
  const container inside{f.box};
  auto same = variable(0, {.name = "x"});
  const name_scope scope{"problem_1"};
  auto other = variable(10, {.name = "x"});
  session one{{.target = cluster.target("worker", 0), .graph = &f.g}}, two{toward(cluster.target("worker", 0))};
  one.run(x.initializer());
  one.run(up);
  CHECK(int(two.run(same)) == 1);
  CHECK(caught([&] { two.run(other); }).code() == errc::failed_precondition);
  two.run(other.initializer());
  CHECK(int(two.run(other)) == 10);
  CHECK(int(one.run(up)) == 2);
}

TEST_CASE("variables outlive the session that made them") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:1">(variable(7, {.name = "v"}));
  session{toward(cluster.target("worker", 0))}.run(v.initializer());
  CHECK(int(session{toward(cluster.target("worker", 1))}.run(v)) == 7);
}

TEST_CASE("sessions at different targets share the variables of a third task") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(0, {.name = "v"}));
  auto up = assign_add(v, 1);
  session(toward(cluster.target("ps", 0))).run(v.initializer());
  for (const auto& target : cluster.targets()) session(toward(target)).run(operation(up));
  CHECK(int(session(toward(cluster.target("worker", 0))).run(v)) == 4);
}

TEST_CASE("an initial value on one task reads the initial value of a variable on another, at every initialisation") {
  auto& cluster = any_cluster();
  fresh f;
  const auto a = place<"/job:ps/task:0">(variable(reduce_sum(fill<float>({256, 256}, 1.f)), {.name = "a"}));
  const auto b = place<"/job:ps/task:1">(variable(a * 2.f, {.name = "b"}));
  const auto init = global_variables_initializer();
  const auto change = group(assign(a, -1.f), assign(b, -1.f));
  session sess{toward(cluster.target("worker", 0))};
  for (int turn = 0; turn < 10; ++turn) {
    sess.run(init);
    CHECK(float(sess.run(b)) == 2 * 256 * 256);
    sess.run(change);
  }
}

TEST_CASE("variables of one name on different tasks are apart") {
  auto& cluster = any_cluster();
  fresh f;
  auto a = place<"/job:ps/task:0">(variable(1, {.name = "a", .shared_name = "same"}));
  auto b = place<"/job:ps/task:1">(variable(2, {.name = "b", .shared_name = "same"}));
  session sess{toward(cluster.target("worker", 0))};
  sess.run(a.initializer(), b.initializer());
  const auto [x, y] = sess.run(a, b);
  CHECK((int(x) == 1 && int(y) == 2));
}

// Initialises `v` as T of one extent; what a session is told that believes in another.
template <class First, class Second>
error disagreement(two_and_two& cluster, const tensor<First>& first, const tensor<Second>& second) {
  const std::string box = fresh::unique_name();
  const auto run = [&](const auto& value) {
    graph g;
    const auto use = g.as_default();
    const container inside{box};
    auto v = place<"/job:ps/task:0">(variable(value, {.name = "v"}));
    session(toward(cluster.target("worker", 0))).run(v.initializer());
  };
  run(first);
  return caught([&] { run(second); });
}

TEST_CASE("sessions that disagree about a variable's shape or dtype are told so, with both places") {
  auto& cluster = any_cluster();
  const auto shape_clash = disagreement(cluster, tensor<float>({2}), tensor<float>({3}));
  CHECK(shape_clash.code() == errc::invalid_argument);
  CHECK_THAT(shape_clash.sentence(), Catch::Contains("float [3]") && Catch::Contains("float [2]"));
  CHECK_THAT(shape_clash.sentence(), Catch::Contains("state_test.cpp"));
  const auto dtype_clash = disagreement(cluster, tensor<float>({2}), tensor<double>({2}));
  CHECK(dtype_clash.code() == errc::invalid_argument);
  CHECK_THAT(dtype_clash.sentence(), Catch::Contains("double [2]") && Catch::Contains("float [2]"));
  CHECK(dtype_clash.task() == name_of("ps", 0));
}

// ---- at once

TEST_CASE("a session used by four threads at once counts exactly") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(0, {.name = "v"}));
  auto up = assign_add(v, place<"/job:worker/task:1">(constant(1)));
  session sess{toward(cluster.target("worker", 0))};
  sess.run(v.initializer());
  in_threads(4, [&](int) {
    for (int i = 0; i < 50; ++i) sess.run(operation(up));
  });
  CHECK(int(sess.run(v)) == 200);
}

TEST_CASE("three sessions that add at once sum up exactly") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(tensor<float>({1000}), {.name = "v"}));
  auto up = assign_add(v, ones<float>({1000}));
  session first{toward(cluster.target("worker", 0))}, second{toward(cluster.target("worker", 1))},
      third{toward(cluster.target("ps", 0))};
  first.run(v.initializer());
  session* const all[] = {&first, &second, &third};
  in_threads(3, [&](int t) {
    for (int i = 0; i < 50; ++i) all[t]->run(operation(up));
  });
  CHECK(first.run(v) == tensor<float>({1000}, std::vector<float>(1000, 150.f)));
}

TEST_CASE("a reader's tensor is whole, whatever another session writes meanwhile") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(tensor<float>({5000}), {.name = "v"}));
  auto up = assign_add(v, ones<float>({5000}));
  session writer{toward(cluster.target("worker", 0))}, reader{toward(cluster.target("worker", 1))};
  writer.run(v.initializer());
  std::atomic<int> torn{0};
  in_threads(2, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      if (t == 0) {
        writer.run(operation(up));
        continue;
      }
      const tensor<float> seen = reader.run(v);
      for (const float x : seen.span()) torn += x != seen(0);
    }
  });
  CHECK(torn == 0);
}

TEST_CASE("clients come and go from several threads") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:1">(variable(0, {.name = "v"}));
  auto up = assign_add(v, 1);
  session(toward(cluster.target("worker", 0))).run(v.initializer());
  const auto targets = cluster.targets();
  in_threads(4, [&](int t) {
    for (int i = 0; i < 10; ++i) session(toward(targets[static_cast<std::size_t>(t)], &f.g)).run(operation(up));
  });
  CHECK(int(session(toward(cluster.target("worker", 0))).run(v)) == 40);
}

TEST_CASE("clients of other processes share the variables too") {
  auto& cluster = any_cluster();
  fresh f;
  auto v = place<"/job:ps/task:1">(variable(0, {.name = "shared"}));
  auto up = assign_add(v, 1);
  session sess{toward(cluster.target("worker", 0))};
  sess.run(v.initializer());
  std::vector<process> clients;
  for (int i = 0; i < 2; ++i)
    clients.emplace_back(std::vector<std::string>{PINION_TEST_ADDING_CLIENT, cluster.target("worker", i),
                                                  "/job:ps/task:1", f.box, "50"});
  for (int i = 0; i < 50; ++i) sess.run(operation(up));
  for (auto& c : clients) CHECK(c.result() == 0);
  CHECK(int(sess.run(v)) == 150);
}

// ---- the same as in one process

// Trains a small network by momentum; what its weights come to.
std::vector<tensor<float>> trained(const session_options& options, bool spread) {
  fresh f;
  std::optional<device> on;
  if (spread) on.emplace(replica_device_setter{{.ps_tasks = 2, .worker_device = "/job:worker/task:1"}});
  auto x = placeholder<float>({unknown, 4}, "x");
  auto W = variable(truncated_normal<float>({4, 8}, {.stddev = .5f, .seed = 1}), {.name = "W"});
  auto b = variable(tensor<float>({8}), {.name = "b"});
  auto U = variable(truncated_normal<float>({8, 1}, {.stddev = .5f, .seed = 2}), {.name = "U"});
  auto loss = reduce_mean(square(matmul(elu(matmul(x, W) + b), U) - reduce_sum(x, {.axes = {1}, .keep_dims = true})));
  auto step = train::momentum{{.learning_rate = .02f, .momentum = .9f}}.minimize(loss);
  session sess{options};
  sess.run(global_variables_initializer());
  tensor<float> batch({16, 4});
  for (std::size_t i = 0; i < batch.span().size(); ++i) batch.span()[i] = static_cast<float>(i * 7 % 13) * .25f - 1;
  for (int i = 0; i < 50; ++i) sess.run({{x, batch}}, step);
  const auto [w, c, u] = sess.run(W, b, U);
  return {w, c, u};
}

TEST_CASE("training across tasks gives what one process gives, bit for bit") {
  auto& cluster = any_cluster();
  const auto alone = trained({}, false), together = trained(toward(cluster.target("worker", 0)), true);
  CHECK(std::isfinite(alone[0](0, 0)));
  CHECK(together == alone);
}

tensor<float> gradient_of(const session_options& options, const char* ps, const char* worker) {
  fresh f;
  const device on{worker};
  auto W = variable(tensor<float>::of({{1, 2}, {3, 4}}), {.name = "W"});
  expr<float> loss;
  {
    const device at_ps{ps};
    loss = reduce_sum(square(matmul(W, W)));
  }
  auto [gW] = gradients(loss, W);
  session sess{options};
  sess.run(W.initializer());
  return sess.run(gW);
}

TEST_CASE("a gradient is the same across tasks") {
  auto& cluster = any_cluster();
  CHECK(gradient_of(toward(cluster.target("worker", 0)), "/job:ps/task:1", "/job:worker/task:1") ==
        gradient_of({}, "", ""));
}

TEST_CASE("random values of a seed are the same on a cluster as in one process") {
  auto& cluster = any_cluster();
  fresh f;
  const auto draw = [](const session_options& options, const char* where) {
    graph g;
    const auto use = g.as_default();
    const device on{where};
    auto x = random_normal<float>({5, 3}, {.seed = 42});
    session sess{options};
    return std::pair(tensor<float>(sess.run(x)), tensor<float>(sess.run(x)));
  };
  CHECK(draw(toward(cluster.target("worker", 0)), "/job:ps/task:1") == draw({}, ""));
}

}  // namespace
