// Device guards, policies, colocation, containers: what a node asks for, and what the plan will say of it.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/queue/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"

namespace {

using namespace pinion;

std::string request(const operation& op) {
  return to_string(op.requested_device());
}

struct guard_counts {
  int asked = 0;
  std::string operator()(const node_view& op) {
    ++asked;
    return "/task:" + std::to_string(asked) + (op.is<op::variable>() ? "/cpu:0" : "");
  }
};

}  // namespace

TEST_CASE("guards nest, and close in their order") {
  graph g;
  const auto use = g.as_default();
  const auto outside = no_op();
  {
    const device outer("/job:worker/task:0");
    {
      const device inner("/gpu:0");
      CHECK(request(no_op()) == "/job:worker/task:0/device:GPU:0");
    }
    CHECK(request(no_op()) == "/job:worker/task:0");
  }
  CHECK(request(no_op()) == "");
  CHECK(request(outside) == "");
}

TEST_CASE("a guard of any form is one and the same") {
  graph g;
  const auto use = g.as_default();
  for (int form = 0; form < 4; ++form) {
    const auto made = [&] {
      if (form == 0) {
        const device on("/gpu:1");
        return no_op();
      }
      if (form == 1) {
        const device on(at<"/gpu:1">);
        return no_op();
      }
      if (form == 2) {
        const device on(parse_device("/gpu:1"));
        return no_op();
      }
      const device on([](const node_view&) { return "/gpu:1"; });
      return no_op();
    }();
    CHECK(request(made) == "/device:GPU:1");
  }
}

TEST_CASE("a bad string is refused where the guard is opened") {
  graph g;
  const auto use = g.as_default();
  const error e = caught([] { const device on("/job:worker/cpu:x"); });
  const int line = __LINE__ - 1;
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.location().ends_with("guards_test.cpp:" + std::to_string(line)));
  CHECK(std::string(e.what()).ends_with(" [at " + e.location() + "]"));
  CHECK(request(no_op()) == "");
}

TEST_CASE("a policy is asked once a node, in the order in which nodes were made") {
  graph g;
  const auto use = g.as_default();
  guard_counts policy;
  {
    const device on(policy);
    const auto a = no_op("a"), b = no_op("b");
    CHECK(request(b) == "/task:2");
    CHECK(request(a) == "/task:1");
    const auto v = variable(1.0f, {.name = "v"});
    CHECK(to_string(v.requested_device()) == "/task:4/device:CPU:0");
  }
  CHECK(policy.asked == 4);  // a, b, v/initial_value, v; v/Assign and v/read stand with v
}

TEST_CASE("a policy sees the name, op, dtype, shape and bytes of a node, and the device gathered so far") {
  graph g;
  const auto use = g.as_default();
  std::string seen;
  const auto look = [&](const node_view& op) {
    seen += std::string(op.name()) + " " + std::string(op.op()) + " " + std::string(to_string(op.dtype())) + " " +
            to_string(op.shape()) + " " + std::to_string(op.bytes()) + " " + to_string(op.device()) + "\n";
    return op.device();
  };
  const device outer(look);
  const device inner("/cpu:1");
  (void)constant<float>({{1, 2}, {3, 4}}, "m").name();
  (void)placeholder<double>({unknown, 3}, "x").name();
  (void)no_op("nothing");
  CHECK(seen ==
        "m Const float [2, 2] 16 /device:CPU:1\n"
        "x Placeholder double [?, 3] 0 /device:CPU:1\n"
        "nothing NoOp invalid <any shape> 0 /device:CPU:1\n");
}

TEST_CASE("a policy may look at the graph, and at the nodes it sent somewhere before") {
  graph g;
  const auto use = g.as_default();
  const auto anchor = [] {
    const device on("/task:3");
    return no_op("anchor");
  }();
  const device near(
      [&](const node_view& op) { return op.name() == "lost" ? device_spec{} : anchor.requested_device(); });
  CHECK(request(no_op()) == "/task:3");
  CHECK(request(no_op("lost")) == "");
}

TEST_CASE("what a policy throws reaches whoever makes the node, with the node's name") {
  graph g;
  const auto use = g.as_default();
  const device on([](const node_view&) -> device_spec { throw error(errc::resource_exhausted, "all full"); });
  const error e = caught([] { no_op("crowded"); });
  CHECK(e.code() == errc::resource_exhausted);
  CHECK(e.node() == "crowded");
}

TEST_CASE("the reason of a request names the guards that had a say") {
  graph g;
  const auto use = g.as_default();
  const device outer("/job:ps");
  const device silent("");
  const device inner("/cpu:0");
  const std::string& reason = no_op().node().request_reason;
  CHECK(reason.find("guard at ") == 0);
  CHECK(std::count(reason.begin(), reason.end(), ',') == 1);
  CHECK(reason.find("guards_test.cpp:") != std::string::npos);
}

TEST_CASE("another graph starts with an empty guard stack") {
  graph g, other;
  const auto use = g.as_default();
  const device on("/gpu:0");
  {
    const auto inside = other.as_default();
    CHECK(request(no_op()) == "");
  }
  CHECK(request(no_op()) == "/device:GPU:0");
}

TEST_CASE("ops on a variable stand where it stands, whatever guards are open") {
  graph g;
  const auto use = g.as_default();
  const auto v = [] {
    const device on("/job:ps/task:1");
    return variable(1.0f, {.name = "v"});
  }();
  const device on("/gpu:0");
  CHECK(request(v.initializer()) == "/job:ps/task:1");
  CHECK(to_string(v.read().requested_device()) == "/job:ps/task:1");
  CHECK(to_string(assign_add(v, 1.0f).requested_device()) == "/job:ps/task:1");
  CHECK(g[id_of(v.initializer())].colocation == std::vector<std::string>{"v"});
}

TEST_CASE("colocation hides guards outside it and replaces what those inside it ask for") {
  graph g;
  const auto use = g.as_default();
  const auto v = [] {
    const device on("/job:ps/task:1");
    return variable(1.0f, {.name = "v"});
  }();
  const device outer("/job:worker/gpu:3");
  const colocate_with near(v);
  CHECK(request(no_op()) == "/job:ps/task:1");
  const device inner("/task:7/cpu:2");
  const auto n = no_op();
  CHECK(request(n) == "/job:ps/task:1");
  CHECK(n.node().request_reason == "node v");
  CHECK(n.node().colocation == std::vector<std::string>{"v"});
}

TEST_CASE("inside a colocation with what asks for nothing guards have their say") {
  graph g;
  const auto use = g.as_default();
  const auto anchor = no_op("anchor");
  const device outer("/job:worker");
  const colocate_with near(anchor);
  CHECK(request(no_op()) == "");
  const device inner("/cpu:2");
  const auto n = no_op();
  CHECK(request(n) == "/device:CPU:2");
  CHECK(n.node().request_reason.find("guard at ") == 0);
  CHECK(n.node().colocation == std::vector<std::string>{"anchor"});
}

TEST_CASE("of nested colocations the outermost that asks for a device has the last word") {
  graph g;
  const auto use = g.as_default();
  const auto on = [](const char* where, const char* name) {
    const device here(where);
    return no_op(name);
  };
  const auto a = on("/task:1", "a"), b = on("/task:2", "b"), c = no_op("c");
  const colocate_with outermost(c), outer(a), inner(b);
  const auto n = no_op();
  CHECK(request(n) == "/task:1");
  CHECK(n.node().colocation == std::vector<std::string>{"b", "a", "c"});
}

TEST_CASE("colocate_with(nullptr) leaves open colocations out until it ends") {
  graph g;
  const auto use = g.as_default();
  const auto a = no_op("a"), b = no_op("b");
  const colocate_with outer(a);
  const auto apart = [&] {
    const colocate_with none(nullptr), near(b);
    return no_op("apart");
  }();
  const auto alone = [] {
    const colocate_with none(nullptr);
    return no_op("alone");
  }();
  CHECK(apart.node().colocation == std::vector<std::string>{"b"});
  CHECK(alone.node().colocation.empty());
  CHECK(no_op("with").node().colocation == std::vector<std::string>{"a"});
}

TEST_CASE("a fresh read stands with its variable, not with what colocate_with names") {
  graph g;
  const auto use = g.as_default();
  const auto on = [](const char* where, auto make) {
    const device here(where);
    return make();
  };
  const auto v = on("/cpu:0", [] { return variable(1.0f, {.name = "v"}); });
  const auto near = on("/cpu:1", [] { return no_op("near"); });
  const colocate_with beside(near);
  const control_dependencies after(near);
  const auto read = v.read();
  CHECK(id_of(read) != read_of(v));
  CHECK(request(read) == "/device:CPU:0");
  CHECK(read.node().colocation == std::vector<std::string>{"v"});
  CHECK(assign_add(v, 1.0f).node().colocation == std::vector<std::string>{"v", "near"});
}

TEST_CASE("guards around what is done with a queue count, but of accelerators only the task") {
  graph g;
  const auto use = g.as_default();
  const device none("");
  const fifo_queue<float> q({.capacity = 2, .name = "q"});
  const device on("/job:worker/task:1/gpu:0");
  const auto put = q.enqueue(1.0f);
  CHECK(request(put) == "/job:worker/task:1");
  CHECK(put.node().request_reason.find("guard at ") == 0);
  CHECK(put.node().colocation.empty());
  const device cpu("/cpu:0");
  CHECK(request(q.size()) == "/job:worker/task:1/device:CPU:0");
}

TEST_CASE("nodes colocated with a colocated node join its group") {
  graph g;
  const auto use = g.as_default();
  const auto a = no_op("a");
  const auto b = [&] {
    const colocate_with near(a);
    return no_op("b");
  }();
  const auto c = [&] {
    const colocate_with near(b);
    return no_op("c");
  }();
  CHECK(c.node().colocation == std::vector<std::string>{"a"});
}

TEST_CASE("a scope is not opened around an operation of another graph, or of none") {
  graph g, other;
  const auto foreign = [&] {
    const auto use = other.as_default();
    return no_op("there");
  }();
  const auto use = g.as_default();
  const error e = caught([&] { const colocate_with near(foreign); });
  CHECK(e.sentence() ==
        "'there' belongs to another graph than the default one, in which colocate_with opens; each thread has a "
        "default graph of its own");
  CHECK(e.node() == "there");
  CHECK(!e.location().empty());
  CHECK(!caught([&] { const control_dependencies after(foreign); }).location().empty());
  CHECK(caught([&] { const colocate_with near(operation{}); }).code() == errc::invalid_argument);
  CHECK(no_op().node().colocation.empty());
}

TEST_CASE("containers replace each other and mark only what has state") {
  graph g;
  const auto use = g.as_default();
  const auto of = [](const variable_handle<float>& v) {
    return v.owner()[id_of(v)].attrs.get_or<std::string>("container", "");
  };
  const container box("experiment");
  CHECK(of(variable(1.0f)) == "experiment");
  {
    const container inner("other");
    CHECK(of(variable(1.0f)) == "other");
    const container none("");
    CHECK(of(variable(1.0f)) == "");
  }
  CHECK(of(variable(1.0f)) == "experiment");
  CHECK(!no_op().node().attrs.has("container"));
}
