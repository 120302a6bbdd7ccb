// Values of stored elements that go from task to task, and to a client and back.
#include <catch2/catch.hpp>

#include <cstdint>

#include <distributed/real_cluster.hpp>

namespace {

using namespace real;

TEMPLATE_TEST_CASE("stored elements go between tasks, and to a client and back, as they are", "", half, bfloat16,
                   std::int8_t, std::int16_t, std::uint16_t, std::uint32_t, std::uint64_t) {
  using T = TestType;
  local_cluster tasks{{{"ps", 1}, {"worker", 1}}};
  own_graph f;
  const auto on = [](const char* where, const auto& make) {
    const device here{where};
    return make();
  };
  const auto some = tensor<T>::of({T(1), T(2), T(100)});
  const tensor<T> many({100'000});
  const auto x = on("/job:worker/task:0", [] { return placeholder<T>({unknown}); });
  const auto v = on("/job:ps/task:0", [&] { return variable(some); });
  const auto set = on("/job:ps/task:0", [&] { return assign(v, x); });
  const auto got = on("/job:worker/task:0", [&] { return concat({identity(v), identity(v)}, 0); });
  for (const bool narrow : {false, true}) {
    session sess{{.target = tasks.target("worker", 0), .operation_timeout = 30s, .bfloat16_transfers = narrow}};
    sess.run(global_variables_initializer());
    CHECK(sess.run(got) == tensor<T>::of({T(1), T(2), T(100), T(1), T(2), T(100)}));
    sess.run({{x, tensor<T>::of({T(7), T(8), T(9)})}}, set);
    CHECK(sess.run(v) == tensor<T>::of({T(7), T(8), T(9)}));
    CHECK(sess.run({{x, some}}, on("/job:ps/task:0", [&] { return reverse(x, {0}); })) ==
          tensor<T>::of({T(100), T(2), T(1)}));
    CHECK(sess.run({{x, many}}, on("/job:ps/task:0", [&] { return identity(x); })) == many);
  }
}

}  // namespace
