// Initial values that read other variables.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

// Two variables on two devices, the second twice the first.
struct dependent : own_graph {
  variable_handle<float> a, b, c;
  session sess{{.cpu_devices = 2}};

  dependent() {
    {
      const device there{"/cpu:1"};
      a = variable(reduce_sum(fill<float>({64, 64}, 2.f)), {.name = "a"});
    }
    const device here{"/cpu:0"};
    b = variable(a * 2.f, {.name = "b"});
    c = variable(cond(
                     constant(true), [&] { return b + a; }, [&] { return a * 0.f; }),
                 {.name = "c"});
  }
};

}  // namespace

TEST_CASE("an initial value reads the initial values of the variables that its step initialises too") {
  dependent d;
  const auto init = global_variables_initializer();
  const auto change = group(assign(d.a, -1.f), assign(d.b, -1.f), assign(d.c, -1.f));
  for (int turn = 0; turn < 50; ++turn) {
    d.sess.run(init);
    CHECK(float(d.sess.run(d.b)) == 2 * 2 * 64 * 64);
    CHECK(float(d.sess.run(d.c)) == 3 * 2 * 64 * 64);
    d.sess.run(change);
  }
}

TEST_CASE("an initial value reads what a variable holds that its step does not initialise") {
  dependent d;
  CHECK(caught([&] { d.sess.run(d.b.initializer()); }).code() == errc::failed_precondition);
  d.sess.run(d.a.initializer());
  d.sess.run(assign(d.a, 5.f));
  d.sess.run(d.b.initializer());
  CHECK(float(d.sess.run(d.b)) == 10);
  CHECK(float(d.sess.run(d.a)) == 5);
}
