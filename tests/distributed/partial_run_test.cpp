// Steps in turns are for sessions of one process; one on a cluster says so.
#include <catch2/catch.hpp>

#include <pinion/distributed.hpp>
#include <pinion/runtime/partial_run.hpp>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

TEST_CASE("a session on a cluster refuses a run in turns with a sentence, and runs steps as before") {
  using namespace pinion;
  local_cluster local{{{"worker", 1}}};
  own_graph own;
  const auto x = placeholder<float>({}, "x");
  const auto y = x + 1.f;
  session sess{{.target = local.target("worker", 0), .graph = &own.g, .operation_timeout = std::chrono::seconds(60)}};
  CHECK(refusal([&] { partial_run(sess, feeds(x), fetches(y)); }, errc::unimplemented, "this one is on a cluster",
                "partial_run_test.cpp") == "");
  CHECK(float(sess.run({{x, 1.f}}, y)) == 2);
}
