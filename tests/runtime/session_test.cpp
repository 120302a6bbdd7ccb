// Sessions: fetching, feeding, order of effects, callables, names, plans.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <sstream>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;

const auto square = tensor<float>::of({{1, 2}, {3, 4}});

// ---- what must work

TEST_CASE("a session computes the product of two variables, and logs where each node was placed") {
  own_graph f;
  const device on{"/cpu:0"};
  auto a = variable(3.0f, {.name = "a"});
  auto b = variable(4.0f, {.name = "b"});
  auto c = a * b;
  auto init = global_variables_initializer();
  std::ostringstream log;
  session sess{{.log_device_placement = true, .placement_log = log}};
  sess.run(init);
  CHECK(float(sess.run(c)) == 12);
  const std::string cpu = ": /job:localhost/replica:0/task:0/device:CPU:0\n";
  CHECK(log.str() == "a/initial_value: (Const)" + cpu + "a: (VariableV2)" + cpu + "a/Assign: (Assign)" + cpu +
                         "b/initial_value: (Const)" + cpu + "b: (VariableV2)" + cpu + "b/Assign: (Assign)" + cpu +
                         "init: (NoOp)" + cpu + "a/read: (Identity)" + cpu + "b/read: (Identity)" + cpu + "mul: (Mul)" +
                         cpu);
}

TEST_CASE("a policy lambda by op type decides where things run") {
  own_graph f;
  const device on{[](const node_view& op) { return op.is<op::variable>() ? "/cpu:1" : "/cpu:0"; }};
  auto v = variable(square, {.name = "v"});
  auto y = matmul(v, v);
  session sess{{.cpu_devices = 2}};
  const auto p = sess.plan(y);
  CHECK(p.device_of("v") == "/job:localhost/replica:0/task:0/device:CPU:1");
  CHECK(p.device_of("MatMul") == "/job:localhost/replica:0/task:0/device:CPU:0");
  sess.run(v.initializer());
  CHECK(sess.run(y) == tensor<float>::of({{7, 10}, {15, 22}}));
}

TEST_CASE("an int variable on a GPU is refused at run time, and placed on the CPU with soft placement") {
  own_graph f;
  const device on{"/gpu:0"};
  auto v = variable(3, {.name = "v"});
  session strict{{.simulated = {sim::gpu()}}}, soft{{.allow_soft_placement = true, .simulated = {sim::gpu()}}};
  const auto e = caught([&] { strict.run(v.initializer()); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.sentence(), Catch::Contains("there is one on CPU"));
  soft.run(v.initializer());
  CHECK(int(soft.run(v)) == 3);
  CHECK(soft.plan(v).fallbacks().size() == 2);
}

TEST_CASE("layers are made in a loop of storable expressions") {
  own_graph f;
  auto X = placeholder<float>({unknown, 2}, "X");
  std::vector<variable_handle<float>> weights;
  expr<float> h = X;
  for (int i = 0; i < 3; ++i) {
    weights.push_back(variable(square, {.name = "W"}));
    h = matmul(h, weights.back());
  }
  CHECK(weights[2].name() == "W_2");
  session sess;
  sess.run(global_variables_initializer());
  CHECK(sess.run({{X, tensor<float>::of({{1, 0}})}}, h) == tensor<float>::of({{37, 54}}));
}

// ---- fetching

TEST_CASE("operations yield nothing, one fetch comes bare, several as a tuple in their order") {
  own_graph f;
  auto v = variable(5.f, {.name = "v"});
  auto c = constant(2, "c");
  session sess;
  static_assert(std::is_void_v<decltype(sess.run(v.initializer()))>);
  static_assert(std::is_same_v<decltype(sess.run(v, v.initializer())), tensor<float>>);
  sess.run(v.initializer());
  const auto [x, y] = sess.run(c, group(v.initializer()), v);
  CHECK(int(x) == 2);
  CHECK(float(y) == 5);
}

TEST_CASE("the same fetch twice is computed once") {
  own_graph f;
  auto v = variable(0.f, {.name = "v"});
  auto up = assign_add(v, 1.f);
  session sess;
  sess.run(v.initializer());
  const auto [x, y] = sess.run(up, up);
  CHECK(float(x) == 1);
  CHECK(float(y) == 1);
}

TEST_CASE("what no fetch needs does not run") {
  own_graph f;
  auto v = variable(0.f, {.name = "v"});
  auto up = assign_add(v, 1.f);
  session sess;
  sess.run(v.initializer());
  sess.run(v, up);
  sess.run(v);
  CHECK(float(sess.run(v)) == 1);
}

TEST_CASE("nodes made after a run join the next, and state stays") {
  own_graph f;
  auto v = variable(square, {.name = "v"});
  session sess;
  sess.run(v.initializer());
  auto y = matmul(v, v);
  CHECK(sess.run(y)(1, 1) == 22);
  auto z = matmul(y, v);
  CHECK(sess.run(z)(0, 0) == 37);
}

TEST_CASE("a session has variables of its own") {
  own_graph f;
  auto v = variable(1.f, {.name = "v"});
  auto up = assign_add(v, 1.f);
  session one, other;
  one.run(v.initializer());
  other.run(v.initializer());
  one.run(up);
  CHECK(float(one.run(v)) == 2);
  CHECK(float(other.run(v)) == 1);
}

// ---- feeding

TEST_CASE("values are fed as tensors, scalars or braces") {
  own_graph f;
  auto x = placeholder<float>(shape::any(), "x");
  session sess;
  CHECK(sess.run({{x, square}}, identity(x)) == square);
  CHECK(float(sess.run({{x, 2}}, identity(x))) == 2);
  CHECK(sess.run({{x, {{1.f, 2.f}, {3.f, 4.f}}}}, identity(x)) == square);
}

TEST_CASE("any tensor may be fed, and its producer does not run") {
  own_graph f;
  auto v = variable(0.f, {.name = "v"});
  auto up = assign_add(v, 1.f);
  auto y = identity(up);
  session sess;
  sess.run(v.initializer());
  CHECK(float(sess.run({{up, 10.f}}, y)) == 10);
  CHECK(float(sess.run(v)) == 0);
  CHECK(float(sess.run(y)) == 1);
}

TEST_CASE("a variable's read may be fed without a value in the variable") {
  own_graph f;
  auto v = variable(square, {.name = "v"});
  session sess;
  CHECK(sess.run({{v, tensor<float>({2, 2})}}, matmul(v, v)) == tensor<float>({2, 2}));
}

TEST_CASE("a fed tensor that is fetched comes back as it was fed") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  auto c = constant(1.f);
  session sess;
  const auto [a, b] = sess.run({{x, 3.f}, {c, 4.f}}, x, c);
  CHECK(float(a) == 3);
  CHECK(float(b) == 4);
}

TEST_CASE("a fed tensor stands for its producer even where that runs as a target, on any device") {
  for (const char* where : {"/cpu:0", "/cpu:1", "/gpu:0"}) {
    own_graph f;
    const device on{where};
    auto v = variable(0.f, {.name = "v"});
    auto up = assign_add(v, 1.f);
    auto y = identity(up);
    session sess{{.cpu_devices = 2, .simulated = {sim::gpu()}}};
    sess.run(v.initializer());
    CHECK(float(sess.run({{up, 10.f}}, y, operation(up))) == 10);
    CHECK(float(sess.run(v)) == 1);
  }
}

TEST_CASE("the caller's tensor is not written to") {
  own_graph f;
  auto x = placeholder<float>({2, 2}, "x");
  auto v = variable(tensor<float>({2, 2}), {.name = "v"});
  auto put = assign(v, x), up = assign_add(v, x);
  session sess;
  const auto mine = square;
  sess.run({{x, mine}}, put);
  sess.run({{x, mine}}, up);
  sess.run({{x, mine}}, up);
  CHECK(mine == tensor<float>::of({{1, 2}, {3, 4}}));
  CHECK(sess.run(v) == tensor<float>::of({{3, 6}, {9, 12}}));
}

TEST_CASE("a tensor that was fetched does not change with the variable") {
  own_graph f;
  auto v = variable(square, {.name = "v"});
  auto up = assign_add(v, constant(square));
  session sess;
  sess.run(v.initializer());
  const auto before = sess.run(v);
  sess.run(up);
  sess.run(up);
  CHECK(before == square);
  CHECK(sess.run(v)(0, 0) == 3);
}

// ---- order of effects

TEST_CASE("a read inside control_dependencies sees the assignment") {
  own_graph f;
  auto v = variable(1.f, {.name = "v"});
  auto put = assign(v, 7.f);
  expr<float> after;
  {
    const control_dependencies order{put};
    after = v.read();
  }
  session sess;
  sess.run(v.initializer());
  for (int i = 0; i < 20; ++i) {
    sess.run(v.initializer());
    REQUIRE(float(sess.run(after)) == 7);
  }
}

TEST_CASE("control dependencies order effects across devices") {
  own_graph f;
  auto v = place<"/gpu:0">(variable(1.f, {.name = "v"}));
  auto w = place<"/cpu:1">(variable(0.f, {.name = "w"}));
  auto put = assign(v, 7.f);
  operation copied;
  {
    const control_dependencies order{put};
    copied = assign(w, v.read());
  }
  expr<float> seen;
  {
    const control_dependencies order{copied};
    const device on{"/cpu:0"};
    seen = identity(w.read());
  }
  session sess{{.cpu_devices = 2, .simulated = {sim::gpu()}}};
  for (int i = 0; i < 20; ++i) {
    sess.run(v.initializer(), w.initializer());
    REQUIRE(float(sess.run(seen)) == 7);
  }
}

TEST_CASE("a group runs all its operations") {
  own_graph f;
  auto v = variable(0.f, {.name = "v"}), w = variable(0.f, {.name = "w"});
  auto both = group(assign_add(v, 1.f), assign_add(w, 2.f));
  session sess;
  sess.run(global_variables_initializer());
  sess.run(both);
  CHECK(float(sess.run(v)) == 1);
  CHECK(float(sess.run(w)) == 2);
}

// ---- callables

TEST_CASE("the result of a callable with one fetch is a tuple, and converts to its tensor") {
  own_graph f;
  const auto x = placeholder<float>({unknown, 2}, "x");
  session sess;
  const auto step = sess.make_callable(feeds(x), fetches(reduce_sum(x, 1)));
  const tensor<float> bare = step({{1, 2}, {3, 5}});
  const auto [value] = step({{1, 2}, {3, 5}});
  const std::tuple<tensor<float>> all = step({{1, 2}, {3, 5}});
  for (const auto& sums : {bare, value, std::get<0>(all)}) CHECK(sums == tensor<float>::of({3, 8}));
  const auto total = sess.make_callable(feeds(x), fetches(reduce_sum(x)));
  CHECK(float(total({{1, 2}, {3, 5}})) == 11);
}

TEST_CASE("a callable gives a tuple, runs its targets, and takes its feeds in order") {
  own_graph f;
  auto x = placeholder<float>({1, 2}, "x");
  auto n = placeholder<std::int64_t>({}, "n");
  auto v = variable(std::int64_t{0}, {.name = "v"});
  session sess;
  sess.run(v.initializer());
  auto step = sess.make_callable(feeds(x, n), fetches(matmul(x, constant(square))), targets(assign_add(v, n)));
  static_assert(std::is_same_v<decltype(step(tensor<float>(), tensor<std::int64_t>())), one_result<float>>);
  static_assert(std::is_base_of_v<std::tuple<tensor<float>>, one_result<float>>);
  static_assert(!std::is_invocable_v<decltype(step), tensor<double>, tensor<std::int64_t>>);
  static_assert(!std::is_invocable_v<decltype(step), tensor<float>>);
  for (std::int64_t i = 1; i <= 3; ++i) {
    const auto [y] = step(tensor<float>::of({{1, static_cast<float>(i)}}), i);
    CHECK(y(0, 0) == 1.f + 3.f * static_cast<float>(i));
  }
  CHECK(std::int64_t(sess.run(v)) == 6);
}

TEST_CASE("a callable without fetches gives an empty tuple, and checks shapes") {
  own_graph f;
  auto x = placeholder<float>({2}, "x");
  auto v = variable(tensor<float>({2}), {.name = "v"});
  session sess;
  auto step = sess.make_callable(feeds(x), fetches(), targets(assign(v, x)));
  CHECK(step(tensor<float>::of({1, 2})) == std::tuple<>());
  const auto e = caught([&] { step(tensor<float>({3})); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() == "x");
}

// ---- devices, plans, sharing

TEST_CASE("a session lists its devices") {
  own_graph f;
  session sess{{.cpu_devices = 2, .simulated = {sim::gpu(1000), sim::gpu()}}};
  std::string all;
  for (const auto& d : sess.list_devices())
    all += to_string(d.spec).substr(31) + " " + std::to_string(d.memory_limit) + "; ";
  CHECK(all == "/device:CPU:0 268435456; /device:CPU:1 268435456; /device:GPU:0 1000; /device:GPU:1 1073741824; ");
}

TEST_CASE("a plan says where things go before anything runs, and runs nothing") {
  own_graph f;
  auto v = variable(square, {.name = "v"});
  auto c = matmul(v, v, {.name = "c"});
  auto d = identity(c, "d");
  session sess;
  const auto p = sess.plan(c, d);
  CHECK(p.device_of("c") == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK(p.nodes().size() == 4);
  CHECK(caught([&] { sess.run(v); }).code() == errc::failed_precondition);
}

TEST_CASE("variables of one shared name are one") {
  own_graph f;
  auto a = variable(1.f, {.name = "a", .shared_name = "s"}), b = variable(2.f, {.name = "b", .shared_name = "s"});
  session sess;
  sess.run(a.initializer());
  CHECK(float(sess.run(b)) == 1);
}

TEST_CASE("containers keep variables of one name apart") {
  own_graph f;
  const auto make = [](const char* box) {
    const container inside{box};
    return variable(1.f, {.name = "v", .shared_name = "s"});
  };
  auto a = make("one"), b = make("two");
  session sess;
  sess.run(a.initializer());
  CHECK(caught([&] { sess.run(b); }).code() == errc::failed_precondition);
}

// ---- random values

TEST_CASE("a seed gives the same values in every session, and goes on from run to run") {
  own_graph f;
  auto x = random_uniform<float>({4}, {.seed = 7});
  auto also = identity(x);
  session one, other;
  const auto first = one.run(x), second = one.run(also), third = one.run(x);
  CHECK_FALSE(first == second);
  CHECK_FALSE(second == third);
  CHECK(other.run(x) == first);
  CHECK(other.run(x) == second);
  CHECK(other.run(also) == third);
}

TEST_CASE("without a seed sessions differ") {
  own_graph f;
  auto x = random_uniform<float>({4});
  session one, other;
  CHECK_FALSE(one.run(x) == other.run(x));
}

TEST_CASE("two random ops of different seeds differ, of one seed agree") {
  own_graph f;
  auto a = random_normal<float>({4}, {.seed = 1}), b = random_normal<float>({4}, {.seed = 2}),
       c = random_normal<float>({4}, {.seed = 1});
  session sess;
  const auto [x, y, z] = sess.run(a, b, c);
  CHECK_FALSE(x == y);
  CHECK(x == z);
}

}  // namespace
