// Steps that check their values: which node is blamed for a NaN or an infinity, and what the error says.
#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <pinion/runtime/check/bad_operation.hpp>
#include <pinion/runtime/check/node_values.hpp>
#include <pinion/runtime/partial_run.hpp>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(), endless = std::numeric_limits<float>::infinity();

// "div value_checks_test.cpp:12" of the error of a step; what else happened, where it has another code.
template <class F>
std::string blamed(F&& call) {
  const auto e = caught(call);
  if (e.code() != errc::invalid_argument) return e.what();
  return e.node() + " " + line_of(e);
}
template <class F>
std::string sentence(F&& call) {
  return caught(call).sentence();
}

struct checked : own_graph {
  expr<float> x = placeholder<float>({unknown}, "x"), y = placeholder<float>({unknown}, "y");
  session sess{{.check_values = true}};
};

TEST_CASE_METHOD(checked, "a logarithm of 0 is named, with its line, device, element and the range of its input") {
  const auto z = log(x, "z");
  const int line = __LINE__ - 1;
  const auto step = [&] { sess.run({{x, {1.f, 0.f, 2.f}}}, reduce_sum(z)); };
  CHECK(blamed(step) == "z " + here(line));
  CHECK(sentence(step) ==
        "'z' (Log) makes infinity of finite values: 1 of 3 elements of a float [3] is infinite, the first at [1] is "
        "-inf; it was given 'x', a float [3] (from 0 to 2)");
  CHECK(caught(step).device() == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK(float(sess.run({{x, {1.f, 1.f}}}, reduce_sum(z))) == 0);
}

TEST_CASE_METHOD(checked, "a limit of memory leaves the checks on") {
  session limited{{.memory_limit = 1 << 30, .check_values = true}};
  const auto z = log(x, "z");
  CHECK(sentence([&] { limited.run({{x, {-1.f}}}, identity(z)); }).starts_with("'z' (Log) makes NaN"));
}

TEST_CASE_METHOD(checked, "0 / 0 is NaN, and each of its inputs is told") {
  const auto z = x / y;
  CHECK(sentence([&] {
          sess.run({{x, {1.f, 0.f, 2.f}}, {y, {3.f, 0.f, 0.f}}}, identity(z));
        }) ==
        "'div' (Div) makes NaN of finite values: 1 of 3 elements of a float [3] is NaN, the first at [1] is nan, and 1 "
        "infinite; it was given 'x', a float [3] (from 0 to 2); 'y', a float [3] (from 0 to 3)");
}

TEST_CASE_METHOD(checked, "the node in which an exponential overflows is blamed, not those behind it") {
  const auto e = exp(x, "e");
  const auto behind = reduce_sum(matmul(reshape(e, {1, 2}), constant<float>({{1}, {-1}})));
  CHECK(blamed([&] { sess.run({{x, {1.f, 100.f}}}, behind); }).substr(0, 2) == "e ");
}

TEST_CASE_METHOD(checked, "of a statement that is one node, the operation is told in which the value comes to be") {
  const auto z = exp(x * 100.f) + y;
  CHECK(sentence([&] {
          sess.run({{x, {0.f, 2.f}}, {y, {0.f}}}, z);
        }) ==
        "'" + z.name() +
            "' (Add) makes infinity of finite values: 1 of 2 elements of a float [2] is infinite, the first at [1] is "
            "inf, where exp(200) is inf; it was given 'x', a float [2] (from 0 to 2); 'y', a float [1] (0)");
  const auto quotient = (x - x) / (x * 0.f);
  CHECK_THAT(sentence([&] { sess.run({{x, {0.f, 2.f}}}, quotient); }), Catch::Contains("where div(0, 0) is nan"));
}

TEST_CASE_METHOD(checked, "nodes that a step would join are looked at one by one") {
  const auto e = exp(x, "e");
  const auto z = e * y;
  const auto step = [&](session& s) { s.run({{x, {100.f}}, {y, {0.f}}}, z); };
  CHECK(blamed([&] { step(sess); }).substr(0, 2) == "e ");
  session without{{.optimize = false}};
  step(without);
}

TEST_CASE_METHOD(checked, "what would be computed before the step is blamed, too") {
  const auto zero = constant<float>({0}, "zero");
  const auto z = zero / zero;
  const auto sum = z + 1.f;
  CHECK(blamed([&] { sess.run(matmul(reshape(sum, {1, 1}), constant<float>({{2}}))); }).substr(0, 4) == "div ");
}

TEST_CASE_METHOD(checked, "a node of a gradient is named, with the line of the node that it is the gradient of") {
  const auto root = pow(x, y, "root");
  const int line = __LINE__ - 1;
  const auto [slope] = gradients(reduce_sum(root), x);
  const auto e = caught([&] { sess.run({{x, {0.f, 1.f}}, {y, {0.5f, 0.5f}}}, slope); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(line_of(e) == here(line));
  CHECK_THAT(e.sentence(), Catch::Contains("makes infinity of finite values"));
}

TEST_CASE_METHOD(checked, "a mask of minus infinities passes, and what makes NaN of it does not") {
  const auto mask = constant<float>({0, -endless, 0}, "mask");
  const auto p = softmax(x + mask, "p");
  CHECK(float(sess.run({{x, {0.f, 5.f, 0.f}}}, reduce_max(p))) == 0.5f);
  CHECK(float(sess.run({{x, {-endless, 0.f, -endless}}, {y, {endless}}}, reduce_sum(minimum(x, y)))) == -endless);
  const auto step = [&] { sess.run({{x, {-endless, 5.f, -endless}}}, p); };
  CHECK(blamed(step).substr(0, 2) == "p ");
  CHECK_THAT(sentence(step), Catch::Contains("makes NaN of infinite values: 3 of 3 elements") &&
                                 Catch::Contains("(no finite number, 3 infinite)"));
}

TEST_CASE_METHOD(checked, "the greatest of no elements, which is minus infinity, passes") {
  CHECK(float(sess.run({{x, tensor<float>({0})}}, reduce_max(x))) == -endless);
}

TEST_CASE_METHOD(checked, "a fed NaN is blamed on the feed") {
  const auto z = log(x, "z");
  const auto step = [&] { sess.run({{x, {1.f, 2.f, nan_value, nan_value}}}, z); };
  CHECK(sentence(step) ==
        "the value fed to 'x' holds NaN: 2 of 4 elements of a float [4] are NaN, the first at [2] is nan");
  CHECK(blamed(step) == "x " + line_of(error(errc::unknown, "").at_node("", "", to_string(x.node().where))));
}

TEST_CASE_METHOD(checked, "a NaN that a call of a partial run feeds is blamed on the feed") {
  const auto z = log(x, "z");
  partial_run step(sess, feeds(x), fetches(z));
  CHECK_THAT(sentence([&] {
               step.run({{x, {1.f, nan_value}}}, z);
             }),
             Catch::StartsWith("'x' (Placeholder) brought NaN: 1 of 2 elements of a float [2] is NaN"));
}

TEST_CASE_METHOD(checked, "a constant that holds NaN is blamed") {
  const auto c = constant<float>({1, nan_value}, "c");
  CHECK(blamed([&] { sess.run(c * x); }).substr(0, 2) != "c ");  // nothing was fed
  CHECK(blamed([&] { sess.run({{x, {1.f, 1.f}}}, c * x); }).substr(0, 2) == "c ");
}

TEST_CASE_METHOD(checked, "a variable that holds NaN is blamed, with its line, and one that holds infinity is not") {
  const auto w = variable(tensor<float>::of({1.f, 2.f}), {.name = "w"});
  const int line = __LINE__ - 1;
  session plain;
  plain.run(w.initializer());
  const run_request product{.fetches = {w * 2.f}, .check_values = true};
  plain.run(assign(w, constant<float>({1, endless})));
  plain.run(product);
  plain.run(assign(w, constant<float>({1, nan_value})));
  plain.run(w * 2.f);
  const auto step = [&] { plain.run(product); };
  CHECK(blamed(step) == "w " + here(line));
  CHECK_THAT(sentence(step), Catch::StartsWith("variable 'w' held NaN before '") &&
                                 Catch::Contains("1 of 2 elements of a float [2] is NaN, the first at [1] is nan"));
}

TEST_CASE_METHOD(checked, "an update that makes a bad value is named, and a variable may be given a good one again") {
  const auto w = variable(tensor<float>::of({1.f, 2.f}), {.name = "w"});
  const auto add = assign_add(w, x);
  sess.run(w.initializer());
  sess.run({{x, {1.f, 1.f}}}, add);
  const auto step = [&] { sess.run({{x, {1.f, std::numeric_limits<float>::max()}}}, add); };
  step();
  const auto e = caught(step);
  CHECK(e.node() == "AssignAdd");
  CHECK_THAT(e.sentence(), Catch::Contains("makes infinity of finite values") && Catch::Contains("'w', a float [2]"));
  session plain;
  plain.run(assign(w, constant<float>({nan_value, nan_value})));
  plain.run({.targets = {w.initializer()}, .check_values = true});
  CHECK(float(plain.run(reduce_sum(w))) == 3);
}

TEST_CASE_METHOD(checked, "the step of an optimizer that makes a bad value is named, with its variable") {
  const auto w = variable(tensor<float>::of({1.f, 2.f}), {.name = "w"});
  const auto update = train::gradient_descent({.learning_rate = 1e38f}).minimize(reduce_sum(w * x));
  sess.run(w.initializer());
  CHECK_THAT(sentence([&] {
               sess.run({{x, {1.f, 4.f}}}, update);
             }),
             Catch::Contains("makes infinity of finite values, in variable 'w': 1 of 2 elements of a float [2] is "
                             "infinite, the first at [1] is -inf"));
}

TEST_CASE_METHOD(checked, "a node in a loop and one in a branch are named") {
  const auto [i, power] =
      while_loop([](auto n, auto) { return n < 4; },
                 [](auto n, auto v) { return std::tuple(n + 1, square(v, "squared")); }, constant(0), reduce_sum(x));
  CHECK(float(sess.run({{x, {2.f}}}, power)) == 65536);
  const auto step = [&] { sess.run({{x, {1e20f}}}, power); };
  CHECK(caught(step).node().find("squared") != std::string::npos);
  CHECK_THAT(sentence(step), Catch::Contains("makes infinity of finite values"));
  const auto chosen = cond(
      reduce_sum(x) > 0.f, [&] { return log(x - x, "of_zero"); }, [&] { return x; });
  CHECK(caught([&] { sess.run({{x, {1.f}}}, chosen); }).node().find("of_zero") != std::string::npos);
  sess.run({{x, {-1.f}}}, chosen);
}

TEST_CASE_METHOD(checked, "values of 16 bits and of 64 are looked at") {
  const auto narrow = cast<half>(x, "narrow");
  sess.run({{x, {65504.f}}}, narrow);
  CHECK(blamed([&] { sess.run({{x, {70000.f}}}, narrow); }).substr(0, 7) == "narrow ");
  const auto cut = cast<bfloat16>(x, "cut");
  CHECK(blamed([&] { sess.run({{x, {std::numeric_limits<float>::max()}}}, cut); }).substr(0, 4) == "cut ");
  const auto wide = log(cast<double>(x), "wide");
  CHECK_THAT(sentence([&] {
               sess.run({{x, {0.f}}}, wide);
             }),
             Catch::Contains("the one element of a double [1] is -inf"));
}

TEST_CASE("values of a device with a memory of its own are looked at") {
  own_graph f;
  session sess{{.simulated = {sim::gpu()}, .check_values = true}};
  const auto x = placeholder<float>({unknown}, "x");
  const auto w = place<"/gpu:0">(variable(tensor<float>::of({1.f, 2.f}), {.name = "w"}));
  const auto z = place<"/gpu:0">(log(x * w, "z"));
  sess.run(w.initializer());
  CHECK(float(sess.run({{x, {1.f, 0.5f}}}, reduce_sum(z))) == 0);
  const auto step = [&] { sess.run({{x, {1.f, 0.f}}}, reduce_sum(exp(z))); };
  CHECK(blamed(step).substr(0, 2) == "z ");
  CHECK_THAT(sentence(step), Catch::Contains("where log(0) is -inf; it was given 'x', a float [2] (from 0 to 1)"));
  CHECK(caught(step).device() == "/job:localhost/replica:0/task:0/device:GPU:0");
  const auto add = place<"/gpu:0">(assign_add(w, x));
  sess.run({{x, {0.f, std::numeric_limits<float>::max()}}}, add);
  CHECK(blamed([&] { sess.run({{x, {0.f, std::numeric_limits<float>::max()}}}, add); }).substr(0, 10) == "AssignAdd ");
}

TEST_CASE_METHOD(checked, "one step of a session checks its values, and its others run as ever") {
  const auto z = exp(x * 2.f + y, "z") * 3.f;
  session plain, other;
  const std::string before = to_string(plain.plan(z));
  CHECK(before == to_string(other.plan(z)));
  const std::vector<feed> fed{{x, {100.f}}, {y, {0.f}}};
  CHECK(plain.run({.feeds = fed, .fetches = {z}}).size() == 1);
  CHECK(blamed([&] { plain.run({.feeds = fed, .fetches = {z}, .check_values = true}); }).substr(0, 2) == "z ");
  CHECK(plain.run({.feeds = fed, .fetches = {z}}).size() == 1);
  CHECK(to_string(plain.plan(z)) == before);
}

TEST_CASE_METHOD(checked, "callables and traces of a session that checks values do so") {
  const auto z = log(x, "z");
  const auto call = sess.make_callable(feeds(x), fetches(z));
  CHECK(blamed([&] { call(tensor<float>::of({0.f})); }).substr(0, 2) == "z ");
  step_trace trace;
  CHECK(blamed([&] { sess.run(trace, {{x, {0.f}}}, z); }).substr(0, 2) == "z ");
  CHECK_THAT(trace.failure, Catch::Contains("makes infinity"));
}

TEST_CASE("a bad element is found among many, and no number is taken for one") {
  tensor<float> many({4097, 3});
  for (float& element : many.span()) element = -std::numeric_limits<float>::max();
  CHECK(runtime::all_finite(many.untyped()));
  many.span()[4096 * 3 + 2] = nan_value;
  CHECK(!runtime::all_finite(many.untyped()));
  CHECK(runtime::all_finite(tensor<int>({3}).untyped()));
  CHECK(runtime::all_finite(tensor<float>({0, 3}).untyped()));
}

}  // namespace
