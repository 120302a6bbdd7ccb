// What a session says when it cannot: code, node and line of each, and that it stays usable.
#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;

// "invalid_argument x errors_test.cpp:12"
std::string culprit(const error& e) {
  return std::string(to_string(e.code())) + " " + e.node() + " " + line_of(e);
}

TEST_CASE("a placeholder that was not fed fails the step, with its name, line and device") {
  own_graph f;
  auto x = placeholder<float>({unknown, 2}, "x");
  const int line = __LINE__ - 1;
  session sess;
  const auto e = caught([&] { sess.run(identity(x)); });
  CHECK(culprit(e) == "invalid_argument x " + here(line));
  CHECK(e.sentence() == "a placeholder of float [?, 2] was not fed; give it a value in run({{…, value}}, …)");
  CHECK(e.device() == "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST_CASE("a variable that was not initialised fails the step, with its name and line") {
  own_graph f;
  auto v = variable(1.f, {.name = "v"});
  const int line = __LINE__ - 1;
  session sess;
  const auto e = caught([&] { sess.run(v); });
  CHECK(culprit(e) == "failed_precondition v/read " + here(line));
  CHECK_THAT(e.sentence(), Catch::StartsWith("variable 'v' is used before it was initialised"));
  CHECK(caught([&] { sess.run(assign_add(v, 1.f)); }).code() == errc::failed_precondition);
  sess.run(v.initializer());
  CHECK(float(sess.run(v)) == 1);
}

TEST_CASE("a feed of a wrong shape is refused with both shapes") {
  own_graph f;
  auto x = placeholder<float>({unknown, 2}, "x");
  const int line = __LINE__ - 1;
  session sess;
  const auto e = caught([&] { sess.run({{x, tensor<float>({2, 3})}}, x); });
  CHECK(culprit(e) == "invalid_argument x " + here(line));
  CHECK(e.sentence() == "a value of shape [2, 3] was fed to 'x', whose shape is [?, 2]");
}

TEST_CASE("shapes that clash only when a step runs fail it, with the node and its line") {
  own_graph f;
  auto x = placeholder<float>(shape::any(), "x");
  auto y = matmul(x, x, {.name = "y"});
  const int line = __LINE__ - 1;
  session sess;
  const auto e = caught([&] { sess.run({{x, tensor<float>({2, 3})}}, y); });
  CHECK(culprit(e) == "invalid_argument y " + here(line));
  CHECK(sess.run({{x, tensor<float>({2, 2})}}, y) == tensor<float>({2, 2}));
}

TEST_CASE("shapes that clash while the graph is built are refused there, with the node and the line") {
  own_graph f;
  auto x = placeholder<float>({2, 3}, "x");
  const auto e = caught([&] { matmul(x, x); });
  CHECK(culprit(e) == "invalid_argument MatMul " + here(__LINE__ - 1));
}

TEST_CASE("a value of another shape than the variable's is not assigned, and both shapes are named") {
  own_graph f;
  auto v = variable(tensor<float>({2}), {.name = "v"});
  auto x = placeholder<float>(shape::any(), "x");
  auto put = assign(v, x);
  const int line = __LINE__ - 1;
  session sess;
  const auto e = caught([&] { sess.run({{x, tensor<float>({3})}}, put); });
  CHECK(culprit(e) == "invalid_argument Assign " + here(line));
  CHECK(e.sentence() == "a value of shape [3] cannot be assigned to variable 'v' of shape [2]");
}

TEST_CASE("an amount of another shape than the variable's is not added, though it would broadcast") {
  own_graph f;
  auto v = variable(tensor<float>({2}), {.name = "v"});
  auto x = placeholder<float>(shape::any(), "x");
  auto up = assign_add(v, x);
  const int line = __LINE__ - 1;
  session sess;
  sess.run(v.initializer());
  for (const shape& other : {shape{}, shape{1}, shape{3}}) {
    const auto e = caught([&] { sess.run({{x, tensor<float>(other)}}, up); });
    CHECK(culprit(e) == "invalid_argument AssignAdd " + here(line));
    CHECK(e.sentence() ==
          "a value of shape " + to_string(other) + " updates variable 'v' of shape [2]; it does not broadcast");
  }
  CHECK(sess.run({{x, tensor<float>({2})}}, up) == tensor<float>({2}));
}

TEST_CASE("a device that is not there is refused with the node that asked for it, by a step and by a plan") {
  own_graph f;
  const device on{"/gpu:0"};
  auto x = constant(1.f, "x");
  const int line = __LINE__ - 1;
  session sess;
  CHECK(culprit(caught([&] { sess.run(x); })) == "invalid_argument x " + here(line));
  CHECK(culprit(caught([&] { sess.plan(x); })) == "invalid_argument x " + here(line));
}

TEST_CASE("a placeholder that is fed twice is refused by name") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  const int line = __LINE__ - 1;
  session sess;
  const auto e = caught([&] { sess.run({{x, 1.f}, {x, 2.f}}, x); });
  CHECK(culprit(e) == "invalid_argument x " + here(line));
  CHECK(e.sentence() == "'x' was fed twice");
  CHECK(caught([&] { sess.make_callable(feeds(x, x), fetches(x)); }).sentence() == "'x' was fed twice");
}

TEST_CASE("an expression of another graph is refused wherever a session takes one, with its line") {
  own_graph f;
  graph other;
  expr<float> x, mine = constant(1.f, "mine");
  {
    const auto use = other.as_default();
    x = placeholder<float>({}, "x");
  }
  const int line = __LINE__ - 2;
  session sess;
  const std::string wanted = "invalid_argument x " + here(line);
  CHECK(culprit(caught([&] { sess.run(x); })) == wanted);
  CHECK(culprit(caught([&] { sess.run({{x, 1.f}}, mine); })) == wanted);
  CHECK(culprit(caught([&] { sess.run(operation(x)); })) == wanted);
  CHECK(culprit(caught([&] { sess.plan(x); })) == wanted);
  CHECK(culprit(caught([&] { sess.make_callable(feeds(x), fetches(mine)); })) == wanted);
  CHECK(culprit(caught([&] { sess.make_callable(feeds(), fetches(x)); })) == wanted);
  CHECK(culprit(caught([&] { sess.make_callable(feeds(), fetches(), targets(operation(x))); })) == wanted);
}

TEST_CASE("a step that has nothing to fetch or run is refused") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  session sess;
  CHECK(failure([&] { sess.run(); }) == "invalid_argument: run() was given nothing to fetch or run");
  CHECK(caught([&] { sess.run({{x, 1.f}}); }).code() == errc::invalid_argument);
  CHECK(caught([&] { sess.make_callable(feeds(x), fetches()); }).code() == errc::invalid_argument);
}

TEST_CASE("a handle that was never assigned is refused, be it of an expression, an operation or a variable") {
  own_graph f;
  session sess;
  CHECK(caught([&] { sess.run(expr<float>()); }).code() == errc::invalid_argument);
  CHECK(caught([&] { sess.run(operation()); }).code() == errc::invalid_argument);
  CHECK(caught([&] { sess.run(variable_handle<float>()); }).code() == errc::invalid_argument);
  CHECK(caught([&] { sess.run({{expr<float>(), 1.f}}, no_op()); }).code() == errc::invalid_argument);
}

TEST_CASE("a closed session refuses everything, and may be closed again") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  session sess;
  auto step = sess.make_callable(feeds(x), fetches(x));
  const int line = __LINE__ + 1;
  sess.close();
  sess.close();
  const auto e = caught([&] { sess.run({{x, 1.f}}, x); });
  CHECK(line_of(e) == here(line));
  CHECK(std::string(e.what()) == "the session is closed [at " + e.location() + "]");
  CHECK(failure([&] { sess.run({{x, 1.f}}, x); }) == "failed_precondition: the session is closed");
  CHECK(failure([&] { step(tensor<float>(1.f)); }) == "failed_precondition: the session is closed");
  CHECK(failure([&] { sess.plan(x); }) == "failed_precondition: the session is closed");
  CHECK(failure([&] { sess.make_callable(feeds(x), fetches(x)); }) == "failed_precondition: the session is closed");
  CHECK(failure([&] { sess.list_devices(); }) == "failed_precondition: the session is closed");
}

TEST_CASE("a target of an unknown form is refused at once") {
  CHECK(caught([] { session sess{{.target = "nowhere"}}; }).code() == errc::invalid_argument);
}

TEST_CASE("two variables that share a name but not their type are refused with both places") {
  own_graph f;
  auto a = variable(tensor<float>({2}), {.name = "a", .shared_name = "s"});
  const int first = __LINE__ - 1;
  auto b = variable(tensor<float>({3}), {.name = "b", .shared_name = "s"});
  auto c = variable(tensor<double>({2}), {.name = "c", .shared_name = "s"});
  session sess;
  sess.run(a.initializer());
  const auto e = caught([&] { sess.run(b.initializer()); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(line_of(e) == here(first + 2));
  CHECK_THAT(e.sentence(),
             Catch::StartsWith("two variables share the name 's' but not their type: float [3] here, float [2] "
                               "in the one made first at ") &&
                 Catch::EndsWith(here(first)));
  CHECK_THAT(caught([&] { sess.run(c); }).sentence(),
             Catch::Contains("double [2] here, float [2] in the one made first"));
  CHECK(sess.run(a) == tensor<float>({2}));
}

TEST_CASE("the first cause is reported, though other devices wait for the failed one") {
  own_graph f;
  auto x = place<"/cpu:1">(identity(placeholder<float>({1, 1}, "x")));
  expr<float> y;
  {
    const device on{"/gpu:0"};
    y = matmul(x, x);
  }
  session sess{{.cpu_devices = 2, .inter_op_threads = 3, .simulated = {sim::gpu()}}};
  for (int i = 0; i < 20; ++i) {
    const auto e = caught([&] { sess.run(y, identity(y)); });
    REQUIRE(e.code() == errc::invalid_argument);
    REQUIRE(e.node() == "x");
  }
}

TEST_CASE("effects before a failure stay, and the session goes on") {
  own_graph f;
  auto v = variable(0.f, {.name = "v"});
  auto x = placeholder<float>({}, "x");
  expr<float> late;
  auto up = assign_add(v, 1.f);
  {
    const control_dependencies after{up};
    late = identity(x);
  }
  session sess;
  sess.run(v.initializer());
  auto both = group(up, late);
  CHECK(caught([&] { sess.run(both); }).node() == "x");
  const float so_far = sess.run(v);
  CHECK((so_far == 0 || so_far == 1));
  sess.run({{x, 1.f}}, both);
  CHECK(float(sess.run(v)) == so_far + 1);
}

// ---- on a simulated GPU

TEST_CASE("a full device is named, with the node") {
  own_graph f;
  const device on{"/gpu:0"};
  auto v = variable(tensor<float>({1000}), {.name = "v"});
  session sess{{.simulated = {sim::gpu(1024)}}};
  const auto e = caught([&] { sess.run(v.initializer()); });
  CHECK(e.code() == errc::resource_exhausted);
  CHECK(e.device() == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(e.node() == "v/initial_value");
}

TEST_CASE("any allocation may fail: the step ends in resource_exhausted, and the next one works") {
  for (int n = 1; n <= 3; ++n) {
    own_graph f;
    auto x = placeholder<float>({2, 2}, "x");
    const device on{"/gpu:0"};
    auto y = matmul(matmul(x, x), x);
    session sess{{.simulated = {sim::accelerator{.fail_allocation = n}}}};
    const tensor<float> ones({2, 2}, std::vector<float>(4, 1));
    const auto e = caught([&] { sess.run({{x, ones}}, y); });
    CHECK(e.code() == errc::resource_exhausted);
    CHECK(e.node() == (n == 1 ? "x" : n == 2 ? "MatMul" : "MatMul_1"));
    CHECK(sess.run({{x, ones}}, y)(0, 0) == 4);
  }
}

TEST_CASE("a body that fails on the stream fails its step, and not the next one") {
  own_graph f;
  auto i = placeholder<int>({1}, "i");
  expr<float> picked;
  {
    const device on{"/gpu:0"};
    auto rows = constant<float>({1, 2, 3}, "rows");
    picked = identity(gather(rows, i, {.name = "picked"}));
  }
  session sess{{.simulated = {sim::gpu()}}};
  const auto e = caught([&] { sess.run({{i, tensor<int>::of({7})}}, picked); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.device() == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK_FALSE(e.node().empty());
  CHECK(float(sess.run({{i, tensor<int>::of({2})}}, picked)) == 3);
}

TEST_CASE("what fails on a stream is blamed on the node that launched it") {
  own_graph f;
  auto i = placeholder<int>({1}, "i");
  const device on{"/gpu:0"};
  auto picked = gather(constant<float>({1, 2, 3}, "rows"), i, {.name = "picked"});
  auto later = identity(picked, "later");
  session sess{{.allow_soft_placement = true, .simulated = {sim::gpu()}}};
  CHECK(caught([&] { sess.run({{i, tensor<int>::of({7})}}, later); }).node() == "picked");
}

}  // namespace

TEST_CASE("a step that fails on a stream leaves its variables as they were, though somebody still reads them") {
  for (const char* update : {"assign", "assign_add", "sparse"}) {
    INFO(update);
    graph g;
    auto use = g.as_default();
    const device on{"/gpu:0"};
    auto v = variable(tensor<float>::of({1, 2, 3, 4}), {.name = "v"});
    auto i = placeholder<int>({1}, "i");
    expr<float> old = v.read(), late;
    auto big = ones<float>({300, 300});
    auto slow = matmul(matmul(big, big), big);
    auto bad = gather(reshape(slow, {-1}), i);
    operation up;
    {
      const control_dependencies after{operation(bad)};
      const std::string_view which = update;
      if (which == "assign") up = assign(v, constant<float>({9, 9, 9, 9}));
      if (which == "assign_add") up = assign_add(v, constant<float>({1, 1, 1, 1}));
      if (which == "sparse")
        up = train::gradient_descent{{.learning_rate = 1}}.minimize(reduce_sum(gather(v, constant<int>({0, 1}))));
    }
    {
      const control_dependencies after{up};
      late = identity(old);  // so that the value before the update is still held
    }
    session sess{{.allow_soft_placement = true, .simulated = {sim::gpu()}}};
    sess.run(v.initializer());
    const auto index = tensor<int>::of({90000});
    CHECK(caught([&] {
            sess.run({{i, index}}, late, up);
          }).sentence() == "index 90000 at position 0 is not in [0, 90000)");
    CHECK(to_string(sess.run(v)) == "[1, 2, 3, 4]");
  }
}
