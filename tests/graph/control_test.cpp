// Control dependencies, by the rules of TensorFlow: scopes add up, null clears, data inputs made inside dominate.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/graph/scopes.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_graph.hpp"

namespace {

using namespace pinion;

// "a b": the names a node waits for.
std::string waits_for(const operation& op) {
  std::string text;
  for (node_id id : op.node().control_inputs) text += (text.empty() ? "" : " ") + op.owner()[id].name;
  return text;
}

struct names : own_graph {
  operation a = no_op("a"), b = no_op("b"), c = no_op("c");
  expr<float> x = constant(1.0f, "x");
};

}  // namespace

TEST_CASE("nodes made inside wait, those made outside do not") {
  names n;
  const auto before = no_op();
  {
    const control_dependencies after{n.a, n.b};
    CHECK(waits_for(no_op()) == "a b");
  }
  CHECK(waits_for(before) == "");
  CHECK(waits_for(no_op()) == "");
}

TEST_CASE("scopes add up, without duplicates") {
  names n;
  const control_dependencies outer{n.a, n.b};
  const control_dependencies inner{n.b, n.c, n.c};
  const auto text = waits_for(no_op());
  CHECK(text.size() == 5);
  for (char name : {'a', 'b', 'c'}) CHECK(text.find(name) != std::string::npos);
}

TEST_CASE("null starts from none, until it closes") {
  names n;
  const control_dependencies outer{n.a};
  {
    const control_dependencies none{nullptr};
    CHECK(waits_for(no_op()) == "");
    const control_dependencies inner{n.b};
    CHECK(waits_for(no_op()) == "b");
  }
  CHECK(waits_for(no_op()) == "a");
}

TEST_CASE("an input made inside the scope waits, so its consumer need not") {
  names n;
  const control_dependencies after{n.a};
  auto inside = identity(n.x, "inside");
  CHECK(waits_for(inside) == "a");
  CHECK(waits_for(identity(inside)) == "");
  CHECK(waits_for(identity(n.x)) == "a");
}

TEST_CASE("domination is judged level by level") {
  names n;
  const control_dependencies outer{n.a};
  auto made_outside = identity(n.x);
  const control_dependencies inner{n.b};
  CHECK(waits_for(identity(made_outside)) == "b");
  auto made_inside = identity(n.x);
  CHECK(waits_for(identity(made_inside)) == "");
}

TEST_CASE("a control input that is a data input already is not added") {
  names n;
  const control_dependencies after{n.x, n.a};
  CHECK(waits_for(identity(n.x)) == "a");
}

TEST_CASE("transitive data inputs are not considered") {
  names n;
  auto y = identity(n.x);
  const control_dependencies after{n.x};
  CHECK(waits_for(identity(y)) == "x");
}

TEST_CASE("a variable is waited for without a read") {
  names n;
  const auto v = variable(1.0f, {.name = "v"});
  const auto before = n.g.size();
  const control_dependencies after(v);
  CHECK(n.g.size() == before);
  CHECK(waits_for(no_op()) == "v");
}

TEST_CASE("a read inside sees the effects, and outside is shared") {
  names n;
  const auto v = variable(1.0f, {.name = "v"});
  CHECK(id_of(v.read()) == id_of(v.read()));
  CHECK(v.read().name() == "v/read");
  auto up = assign_add(v, 1.0f);
  const control_dependencies after{up};
  const auto fresh = v.read();
  CHECK(id_of(fresh) != read_of(v));
  CHECK(waits_for(fresh) == "AssignAdd");
  CHECK(fresh.name() == "v/read_1");
}

TEST_CASE("a group waits for its members and yields nothing") {
  names n;
  const auto all = group(n.a, n.b);
  CHECK(waits_for(all) == "a b");
  CHECK(all.op() == "NoOp");
  CHECK(all.name() == "group_deps");
  CHECK(all.node().outputs.empty());
}

TEST_CASE("a group asks for the device that all of its operations ask for") {
  names n;
  const auto on = [](const char* where) {
    const device there{where};
    return no_op();
  };
  const auto device_of = [](const operation& o) { return to_string(o.requested_device()); };
  CHECK(device_of(group(on("/job:ps/task:1"), on("/job:ps/task:1"))) == "/job:ps/task:1");
  CHECK(device_of(group(on("/job:ps/task:1"), on("/job:ps/task:0"))) == "");
  CHECK(device_of(group(on("/job:ps/task:1"), no_op())) == "");
  CHECK(device_of(group({})) == "");
  const device inside{"/cpu:1"};
  CHECK(device_of(group(on("/job:ps"), on("/job:ps"))) == "/job:ps/device:CPU:1");
}

TEST_CASE("operations of another graph, and none at all, are refused") {
  names n;
  graph other;
  const auto stranger = [&] {
    const auto use = other.as_default();
    return no_op("s");
  }();
  CHECK(failure([&] { const control_dependencies after{stranger}; }) ==
        "invalid_argument: 's' belongs to another graph than the default one, in which control_dependencies open; each "
        "thread has a default graph of its own");
  CHECK(failure([] { const control_dependencies after{operation{}}; }) ==
        "invalid_argument: control_dependencies: an operation that was never assigned");
  CHECK(waits_for(no_op()) == "");
}
