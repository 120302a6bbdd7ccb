// The plan of a session shows the step that runs: what optimization folded, shared, computed and left out.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace {

using namespace pinion;
using Catch::Contains;

struct fresh {
  graph g;
  default_scope use = g.as_default();
};

// "a: folded into add; add: computed once, before the step", of the rows that optimization changed.
std::string changes(const plan& p) {
  std::string all;
  for (const auto& n : p.nodes())
    if (!n.optimized.empty()) all += (all.empty() ? "" : "; ") + n.name + ": " + n.optimized;
  return all;
}

TEST_CASE("constants that are computed before the step are told of, with what was folded into them") {
  fresh f;
  auto a = constant<float>({{1, 2}}, "a"), b = constant<float>({{3}}, "b");
  auto c = transpose(a, {1, 0}, "c");
  auto d = matmul(c, b, {.name = "d"});
  auto x = placeholder<float>({1, 2}, "x");
  session sess;
  const auto p = sess.plan(matmul(x, d, {.name = "y"}));
  CHECK(changes(p) == "a: folded into d; b: folded into d; c: folded into d; d: computed once, before the step");
  CHECK((p.find("d")->op == "Const" && p.find("d")->runs));
  CHECK((!p.find("a")->runs && p.find("y")->runs));
}

TEST_CASE("a node is told to run as its twin") {
  fresh f;
  auto x = placeholder<float>({2, 2}, "x");
  auto first = matmul(x, x, {.name = "first"}), second = matmul(x, x, {.name = "second"});
  session sess;
  CHECK(changes(sess.plan(concat<float>({first, second}, 0, "y"))) == "second: runs as first");
}

TEST_CASE("a map that its only reader computes too is folded into it") {
  fresh f;
  auto x = placeholder<float>({4}, "x");
  (void)exp(x * 2.f + x);  // so that the whole has a kernel of its own
  auto twice = x * 2.f;
  auto sum = twice + x;
  auto y = exp(sum, "y");
  session sess;
  CHECK(changes(sess.plan(y)) == twice.name() + ": folded into y; " + sum.name() + ": folded into y");
}

TEST_CASE("a transposition that a product reads through is folded into it") {
  fresh f;
  auto x = placeholder<float>({2, 3}, "x");
  auto turned = transpose(x, {1, 0}, "turned");
  session sess;
  CHECK(changes(sess.plan(matmul(x, turned, {.name = "y"}))) == "turned: folded into y");
}

TEST_CASE("figures, edges and the drawing are of the nodes that run, and a folded node still has its device") {
  fresh f;
  auto one = place<"/cpu:1">(constant<float>({{1, 2}}, "one"));
  auto two = place<"/cpu:1">(transpose(one, {1, 0}, "two"));
  auto x = placeholder<float>({2, 1}, "x");
  auto y = place<"/cpu:0">(concat<float>({x, two}, 0, "y"));
  session sess{{.cpu_devices = 2}};
  const auto p = sess.plan(y);
  CHECK(p.device_of("one") == "/job:localhost/replica:0/task:0/device:CPU:1");
  CHECK(p.totals()[1].nodes == 1);
  for (const auto& e : p.edges()) CHECK((p.nodes()[e.from].runs && p.nodes()[e.to].runs));
  CHECK_THAT(p.to_dot(), !Contains("\"one\"") && Contains("\"two\""));
  CHECK_THAT(p.to_json(), Contains("\"optimized\": \"folded into two\", \"runs\": false"));
  CHECK_THAT(to_string(p), Contains("; folded into two\n"));
}

TEST_CASE("a session that does not optimize plans and runs the nodes as they were made") {
  fresh f;
  auto y = transpose(constant<float>({{1, 2}}, "a"), {1, 0}, "y");
  for (const session_options& options : {session_options{.optimize = false}, session_options{.record_costs = true}}) {
    session sess{options};
    CHECK(changes(sess.plan(y)) == "");
  }
}

TEST_CASE("the nodes that a plan says run are those that a trace of the step shows") {
  fresh f;
  auto x = variable(tensor<float>({2}), {.name = "x"});
  auto twice = x * 2.f;
  auto y = reduce_sum(exp(twice + x) * (constant(1.f, "a") + constant(2.f, "b")));
  session sess;
  sess.run(x.initializer());
  std::set<std::string> planned, ran;
  const auto p = sess.plan(y);
  for (const auto& n : p.nodes())
    if (n.runs) planned.insert(n.name);
  step_trace trace;
  sess.run(trace, y);
  for (const auto& e : trace.events)
    if (e.kind == trace_event::compute) ran.insert(e.node);
  CHECK(planned == ran);
}

TEST_CASE("a program that this binary has no kernel of is told to be interpreted") {
  fresh f;
  auto x = placeholder<float>({4}, "x");
  auto y = tanh(x, "y");
  const auto [slope] = gradients(y, x);
  const auto [bend] = gradients(slope, x);
  const auto [third] = gradients(bend, x);  // the program of a third derivative is made at run time
  session sess;
  const auto p = sess.plan(third);
  CHECK(p.find("y")->kernel == "");
  CHECK(
      std::any_of(p.nodes().begin(), p.nodes().end(), [](const placed_node& n) { return n.kernel == "interpreted"; }));
  CHECK_THAT(to_string(p), Contains("; interpreted"));
  CHECK_THAT(p.to_json(), Contains("\"runs\": true, \"kernel\": \"interpreted\""));
}

}  // namespace
