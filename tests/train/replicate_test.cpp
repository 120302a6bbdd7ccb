// In-graph replication: where the replicas stand, what they share, and the threads that run them.
#include <catch2/catch.hpp>

#include <array>
#include <atomic>

#include <pinion/train.hpp>

#include "support/caught.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

const std::vector<std::string> workers{"/job:worker/task:0", "/job:worker/task:1"};

}  // namespace

TEST_CASE("replicas stand on their workers, and one strategy deals their variables out to the ps tasks") {
  pn::graph g;
  auto use = g.as_default();
  const auto heads = tr::replicate(workers, {.ps_tasks = 3}, [&](int i) {
    auto w = pn::variable(float(i), {.name = "w"});
    auto v = pn::variable(float(i), {.name = "v"});
    return pn::expr<float>(w * v);
  });
  REQUIRE(heads.size() == 2);
  CHECK(heads[1].name() == "replica_1/mul");
  CHECK(to_string(heads[0].requested_device()) == "/job:worker/task:0");
  CHECK(to_string(heads[1].requested_device()) == "/job:worker/task:1");
  const auto ps = [&](const char* name) { return g.find(name)->device().task(); };
  CHECK(std::vector<int>{ps("replica_0/w"), ps("replica_0/v"), ps("replica_1/w"), ps("replica_1/v")} ==
        std::vector<int>{0, 1, 2, 0});
}

TEST_CASE("without ps tasks a replica keeps its variables") {
  pn::graph g;
  auto use = g.as_default();
  const auto own = tr::replicate({"/cpu:0", "/cpu:1"}, {}, [](int) { return pn::variable(1.0f, {.name = "w"}); });
  pn::session sess{{.cpu_devices = 2}};
  CHECK(sess.plan(own[0], own[1]).device_of("replica_1/w").ends_with("CPU:1"));
  CHECK(refusal([] { tr::replicate({}, {}, [](int i) { return i; }); }, pn::errc::invalid_argument, "no worker") == "");
}

TEST_CASE("threads train replicas in one session: what they share together, the rest each for itself") {
  pn::graph g;
  auto use = g.as_default();
  auto shared = pn::variable(0.0f, {.name = "shared"});
  struct tower {
    pn::variable_handle<float> own;
    pn::operation train;
  };
  const auto towers = tr::replicate({"/cpu:0", "/cpu:1"}, {}, [&](int i) {
    auto own = pn::variable(0.0f, {.name = "own"});
    const auto loss = shared + float(i + 1) * own;
    return tower{own, tr::gradient_descent{{.learning_rate = 1}}.minimize(loss, {.variables = {shared, own}})};
  });
  pn::session sess{{.cpu_devices = 2}};
  sess.run(pn::global_variables_initializer());
  std::array<int, 2> left{30, 50};
  tr::run_in_threads(2, [&](int i) {
    sess.run(towers[static_cast<std::size_t>(i)].train);
    return --left[static_cast<std::size_t>(i)] > 0;
  });
  CHECK(float(sess.run(shared)) == -80);
  CHECK(float(sess.run(towers[0].own)) == -30);
  CHECK(float(sess.run(towers[1].own)) == -100);
}

TEST_CASE("what one thread throws stops all, and is thrown; the end of the input stops all alone") {
  std::atomic<int> ended{0};
  const auto first_fails = [&](pn::errc code) {
    return [&ended, code](int i) -> bool {
      if (i == 0) throw pn::error(code, "thread 0 gave up");
      ended = i;
      return true;  // for ever, unless it is stopped
    };
  };
  CHECK(refusal([&] { tr::run_in_threads(2, first_fails(pn::errc::aborted)); }, pn::errc::aborted,
                "thread 0 gave up") == "");
  tr::run_in_threads(2, first_fails(pn::errc::out_of_range));
  tr::run_in_threads(0, first_fails(pn::errc::aborted));
}
