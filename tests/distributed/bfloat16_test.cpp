// Floats that go from task to task as bfloat16: their values, their bytes, and what the plan says.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <distributed/real_cluster.hpp>

namespace {

using namespace real;

constexpr float largest = std::numeric_limits<float>::max(), endless = std::numeric_limits<float>::infinity();

session_options narrow_toward(const std::string& target, bool narrow = true) {
  return {.target = target, .operation_timeout = 30s, .bfloat16_transfers = narrow};
}

// A cluster, and values that its worker takes from its ps.
struct lent_values {
  local_cluster tasks{{{"ps", 1}, {"worker", 1}}};
  own_graph f;

  std::string target() { return tasks.target("worker", 0); }
  template <class T>
  expr<T> lent(const expr<T>& value) {
    const device on{"/job:worker/task:0"};
    return identity(value);
  }
  template <class T>
  expr<T> on_ps(const tensor<T>& value) {
    const device on{"/job:ps/task:0"};
    return identity(variable(value, {.trainable = false}));
  }
};

tensor<float> some_floats() {
  return tensor<float>::of({1.f, -2.5f, 1.00390625f, 1.01171875f, 1.003906369f, largest, -largest, endless, 1e-40f});
}

TEST_CASE("floats that go as bfloat16 are rounded to the nearest, and to even where two are as near") {
  lent_values c;
  const auto values = c.lent(c.on_ps(some_floats()));
  session sess{narrow_toward(c.target())};
  sess.run(global_variables_initializer());
  const tensor<float> got = sess.run(values);
  const std::vector<float> all(got.span().begin(), got.span().end());
  CHECK(all ==
        std::vector<float>{1.f, -2.5f, 1.f, 1.015625f, 1.0078125f, endless, -endless, endless, std::ldexp(1.f, -133)});
}

TEST_CASE("a NaN that goes as bfloat16 stays one, wherever its bits are") {
  lent_values c;
  tensor<float> odd({2});
  const std::uint32_t bits[] = {0x7f800001u, 0xffffffffu};
  std::memcpy(odd.span().data(), bits, sizeof bits);
  const auto values = c.lent(c.on_ps(odd));
  session sess{narrow_toward(c.target())};
  sess.run(global_variables_initializer());
  const tensor<float> got = sess.run(values);
  CHECK(std::isnan(got(0)));
  CHECK(std::isnan(got(1)));
}

TEST_CASE("floats go as bfloat16 from accelerators and to them, and as they are between those of one task") {
  local_cluster tasks({{"ps", 1}, {"worker", 1}}, {.simulated = {sim::gpu(), sim::gpu()}});
  own_graph f;
  const auto on = [](const char* where, const auto& make) {
    const device here{where};
    return make();
  };
  const auto from = on("/job:ps/gpu:0", [] { return identity(variable(tensor<float>::of({1.001f, 3.f}))); });
  const auto within = on("/job:ps/gpu:1", [&] { return from * 2.f; });
  const auto across = on("/job:worker/gpu:0", [&] { return from * 2.f; });
  session sess{narrow_toward(tasks.target("worker", 0))};
  sess.run(global_variables_initializer());
  CHECK(tensor<float>(sess.run(across)).untyped() == tensor<float>::of({2.f, 6.f}).untyped());
  const auto compared = on("/job:ps/cpu:0", [&] { return reduce_sum(cast<int>(equal(within, from * 2.f))); });
  CHECK(int(sess.run(compared)) == 2);
}

TEST_CASE("other values, and floats of a session that does not ask for it, go as they are") {
  lent_values c;
  const auto floats = c.lent(c.on_ps(some_floats()));
  const auto doubles = c.lent(c.on_ps(tensor<double>::of({1.00390625, 1e300})));
  const auto ints = c.lent(c.on_ps(tensor<int>::of({16777217, -1})));
  session narrow{narrow_toward(c.target())}, plain{narrow_toward(c.target(), false)};
  narrow.run(global_variables_initializer());
  CHECK(narrow.run(doubles).untyped() == tensor<double>::of({1.00390625, 1e300}).untyped());
  CHECK(narrow.run(ints).untyped() == tensor<int>::of({16777217, -1}).untyped());
  CHECK(plain.run(floats).untyped() == some_floats().untyped());
}

TEST_CASE("floats as bfloat16 have half of the bytes, pushed and pulled") {
  lent_values c;
  for (const std::int64_t count : {std::int64_t{10'000}, std::int64_t{4} << 20}) {
    const auto value = c.on_ps(tensor<float>({count}));
    const operation taken = group(c.lent(value));
    const auto bytes_of = [&](bool narrow) {
      session sess{narrow_toward(c.target(), narrow)};
      sess.run(global_variables_initializer());
      sess.run(taken);  // ships the step
      const auto before = c.tasks.server("ps", 0).traffic().bytes_sent;
      sess.run(taken);
      return static_cast<double>(c.tasks.server("ps", 0).traffic().bytes_sent - before);
    };
    const double plain = bytes_of(false), narrow = bytes_of(true);
    CHECK(plain > 4. * static_cast<double>(count));
    CHECK(narrow == Approx(plain / 2).epsilon(.1));
  }
}

TEST_CASE("a plan says which values go as bfloat16, and counts their bytes so") {
  lent_values c;
  const auto floats = c.lent(c.on_ps(tensor<float>({1000})));
  const auto ints = c.lent(c.on_ps(tensor<int>({1000})));
  const operation both = group(floats, ints);
  const auto told = [&](bool narrow) { return session{narrow_toward(c.target(), narrow)}.plan(both); };
  const auto bytes = [](const plan& p) {
    std::int64_t sum = 0;
    for (const auto& t : p.transfers()) sum += t.bytes;
    return sum;
  };
  const plan narrow = told(true), plain = told(false);
  CHECK(bytes(plain) - bytes(narrow) == 2000);
  CHECK(plain.notes().empty());
  REQUIRE(narrow.notes().size() == 1);
  CHECK_THAT(narrow.notes()[0],
             Catch::EndsWith(" goes from " + cpu_of("ps", 0) + " to " + cpu_of("worker", 0) + " as bfloat16"));
}

TEST_CASE("what is fed and fetched is not rounded at the target, and is where it crosses") {
  lent_values c;
  auto x = placeholder<float>({}, "x");
  const auto here = c.lent(expr<float>(x)) * 1.f;
  expr<float> there;
  {
    const device on{"/job:ps/task:0"};
    there = identity(x) * 1.f;
  }
  session sess{narrow_toward(c.target())};
  CHECK(float(sess.run({{x, 1.001f}}, here)) == 1.001f);
  CHECK(float(sess.run({{x, 1.001f}}, there)) == 1.f);
}

}  // namespace
