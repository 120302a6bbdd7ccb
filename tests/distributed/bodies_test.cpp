// Control flow on a cluster: bodies are shipped, and run where their node is.
#include <catch2/catch.hpp>

#include <pinion/distributed.hpp>

#include "support/caught.hpp"

namespace {
namespace pn = pinion;
}

TEST_CASE("a loop, its gradient and its random numbers run on another task") {
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::placeholder<double>({}, "x");
  auto [p, back, kept, slope] = [&] {
    pn::device on{"/job:worker/task:1"};
    auto [i, p] = pn::while_loop([](auto i, auto) { return i < 4; },
                                 [&](auto i, auto p) {
                                   return std::tuple{i + 1, p * x};
                                 },
                                 0, x);
    auto [back] = pn::gradients(p, x);
    auto ones = pn::ones<float>({100}, "ones");
    auto kept = pn::cond(
        x > 0.0, [&] { return pn::dropout(ones, {.rate = .5}); }, [&] { return ones; });
    auto [slope] = pn::gradients(pn::reduce_sum(kept), ones);
    return std::tuple{p, back, kept, slope};
  }();
  auto local = pn::local_cluster{{{"worker", 2}}};
  pn::session sess{{.target = local.target("worker", 0)}};
  CHECK(sess.plan(p).device_of("while") == "/job:worker/replica:0/task:1/device:CPU:0");
  const auto [a, b] = sess.run({{x, 3.0}}, p, back);
  CHECK(double(a) == 243);
  CHECK(double(b) == 405);
  const auto [k, s] = sess.run({{x, 3.0}}, kept, slope);
  CHECK(k == s);
}

TEST_CASE("a body writes a variable of its task, and may not reach another") {
  pn::graph g;
  auto use = g.as_default();
  pn::variable_handle<float> v;
  {
    pn::device on{"/job:ps/task:0"};
    v = pn::variable(1.0f, {.name = "v"});
  }
  const auto count = [&](const char* where) {
    pn::device on{where};
    return pn::while_loop([](auto i) { return i < 3; },
                          [&](auto i) {
                            auto up = pn::assign_add(v, 2.0f);
                            pn::control_dependencies after{up};
                            return i + 1;
                          },
                          0);
  };
  auto there = count("/job:ps/task:0"), elsewhere = count("/job:worker/task:0");
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 1}}};
  pn::session sess{{.target = local.target("worker", 0)}};
  sess.run(v.initializer());
  CHECK(int(sess.run(there)) == 3);
  CHECK(float(sess.run(v)) == 7);
  const auto e = caught([&] { sess.run(elsewhere); });
  CHECK(e.code() == pn::errc::invalid_argument);
  CHECK(e.sentence().find("the body of 'while_1' stays within its task: ") == 0);
  CHECK(e.sentence().find("/job:ps") != std::string::npos);
  CHECK(e.task() == "/job:worker/replica:0/task:0");
}

TEST_CASE("an endless loop on another task ends with the step's time") {
  pn::graph g;
  auto use = g.as_default();
  auto forever = [] {
    pn::device on{"/job:worker/task:1"};
    return pn::while_loop([](auto i) { return i >= 0; }, [](auto i) { return i * 1; }, 0);
  }();
  auto local = pn::local_cluster{{{"worker", 2}}};
  pn::session sess{{.target = local.target("worker", 0), .operation_timeout = std::chrono::milliseconds(300)}};
  CHECK(caught([&] { sess.run(forever); }).code() == pn::errc::deadline_exceeded);
}
