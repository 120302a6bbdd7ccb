// Steps of a session on a cluster that check their values: the task in which a bad value comes to be names the node.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <limits>

#include <support/caught.hpp>

namespace {

using namespace real;

two_and_two& any_cluster() {
  return two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
}

session_options checking_toward(const std::string& target, bool check) {
  session_options o = toward(target);
  o.check_values = check;
  return o;
}

// A logarithm on a ps, of what the worker computes, and what the worker makes of it.
struct two_tasks : fresh {
  expr<float> x = placeholder<float>({unknown}, "x");
  expr<float> z = [this] {
    const device on{"/job:ps/task:1"};
    return log(x, "z");
  }();
  int line = __LINE__ - 2;
  expr<float> y = [this] {
    const device on{"/job:worker/task:0"};
    return reduce_sum(exp(z));
  }();
};

TEST_CASE("a bad value is blamed on the node of the task where it comes to be, not on those that receive it") {
  auto& cluster = any_cluster();
  two_tasks f;
  session sess{checking_toward(cluster.target("worker", 0), true)};
  CHECK(float(sess.run({{f.x, {1.f, 1.f}}}, f.y)) == 2);
  const auto e = caught([&] { sess.run({{f.x, {1.f, 0.f}}}, f.y); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() + " " + line_of(e) + " " + e.task() == "z " + here(f.line) + " " + name_of("ps", 1));
  CHECK(e.device() == cpu_of("ps", 1));
  CHECK_THAT(e.sentence(), Catch::StartsWith("'z' (Log) makes infinity of finite values: 1 of 2 elements") &&
                               Catch::EndsWith("it was given 'x', a float [2] (from 0 to 1)"));
}

TEST_CASE("one step of a session on a cluster checks its values, and the others pass them on") {
  auto& cluster = any_cluster();
  two_tasks f;
  session sess{checking_toward(cluster.target("worker", 0), false)};
  const std::vector<feed> fed{{f.x, tensor<float>::of({1.f, 0.f})}};
  CHECK(sess.run({.feeds = fed, .fetches = {f.y}}).size() == 1);
  CHECK(caught([&] { sess.run({.feeds = fed, .fetches = {f.y}, .check_values = true}); }).node() == "z");
  CHECK(sess.run({.feeds = fed, .fetches = {f.y}}).size() == 1);
}

TEST_CASE("a NaN that is fed to a session on a cluster, and one that lies in a variable of a ps, are blamed") {
  auto& cluster = any_cluster();
  two_tasks f;
  const auto w = [] {
    const device on{"/job:ps/task:0"};
    return variable(tensor<float>::of({1.f, 2.f}), {.name = "w"});
  }();
  const auto bad = placeholder<float>({2}, "bad");
  const auto put = assign(w, bad);
  const auto product = w * f.x;
  const float none = std::numeric_limits<float>::quiet_NaN();
  session sess{checking_toward(cluster.target("worker", 0), false)};
  sess.run({{bad, {none, 1.f}}}, put);
  session careful{checking_toward(cluster.target("worker", 1), true)};
  CHECK(caught([&] { careful.run({{f.x, {1.f, none}}}, f.y); }).node() == "x");
  const auto e = caught([&] { careful.run({{f.x, {1.f, 1.f}}}, product); });
  CHECK(e.node() + " " + e.task() == "w " + name_of("ps", 0));
}

}  // namespace
