// The placement log, in TensorFlow's format.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <sstream>

namespace {

using namespace pinion;

const std::string cpu0 = "/job:localhost/replica:0/task:0/device:CPU:0";

TEST_CASE("the placement log writes a line for each node to a stream") {
  graph g;
  const auto use = g.as_default();
  auto a = variable(3.f, {.name = "a"});
  std::ostringstream log;
  session sess{{.graph = &g, .log_device_placement = true, .placement_log = log}};
  sess.run(a.initializer());
  CHECK(log.str() ==
        "a/initial_value: (Const): " + cpu0 + "\na: (VariableV2): " + cpu0 + "\na/Assign: (Assign): " + cpu0 + "\n");
}

TEST_CASE("the placement log hands each line to a function, once for a node") {
  graph g;
  const auto use = g.as_default();
  auto a = constant(1.f, "a");
  auto b = identity(a, "b");
  std::vector<std::string> lines;
  session sess{{.graph = &g, .log_device_placement = true, .placement_log = [&](std::string_view line) {
                  lines.emplace_back(line);
                }}};
  sess.run(a);
  sess.run(b);
  sess.run(a, b);
  CHECK(lines == std::vector<std::string>{"a: (Const): " + cpu0, "b: (Identity): " + cpu0});
}

TEST_CASE("the placement log begins with the devices that have a description") {
  graph g;
  std::ostringstream log;
  session sess{
      {.graph = &g, .log_device_placement = true, .placement_log = log, .cpu_devices = 2, .simulated = {sim::gpu()}}};
  CHECK(log.str() ==
        "Device mapping:\n/job:localhost/replica:0/task:0/device:GPU:0 -> simulated GPU, computing on the host\n");
}

TEST_CASE("the placement log is silent unless it is asked for, and for a plan alone") {
  graph g;
  const auto use = g.as_default();
  auto a = constant(1.f, "a");
  std::ostringstream silent, log;
  session quiet{{.graph = &g, .placement_log = silent}},
      sess{{.graph = &g, .log_device_placement = true, .placement_log = log}};
  quiet.run(a);
  sess.plan(a);
  CHECK(silent.str() + log.str() == "");
}

}  // namespace
