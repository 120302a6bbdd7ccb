// The simple placer: requests, groups, kernels, soft placement, preferences.
#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>

#include "world.hpp"

namespace {

using namespace pinion;
using Catch::Contains;

const std::string only_task = "/job:localhost/replica:0/task:0/device:";
const literal<float> one_number{{1}};

// ---- requests

TEST_CASE("a request is met, and the plan says which line asked") {
  world w{"cpu:0", "cpu:1"};
  const device on{"/cpu:1"};
  const int line = __LINE__ - 1;
  const auto p = w.plan({constant(1.f, "a")});
  CHECK(p.device_of("a") == only_task + "CPU:1");
  CHECK(p.find("a")->requested == "/device:CPU:1");
  CHECK_THAT(p.find("a")->reason, Catch::StartsWith("pinned by guard at ") && Catch::EndsWith(here(line)));
}

TEST_CASE("nested guards merge, and the inner one wins") {
  world w{"cpu:0", "cpu:1", "gpu:0"};
  const device outer{"/job:localhost/cpu:0"};
  const device inner{"/cpu:1"};
  const auto p = w.plan({constant(1.f, "a")});
  CHECK(p.find("a")->requested == "/job:localhost/device:CPU:1");
  CHECK(where(p) == "a CPU:1");
}

TEST_CASE("a policy by op type places each node") {
  world w{"cpu:0", "cpu:1"};
  const device on{[](const node_view& op) { return op.is<op::variable>() ? "/cpu:1" : "/cpu:0"; }};
  auto v = variable(tensor<float>::of({{1}}), {.name = "v"});
  CHECK(where(w.plan({matmul(v, v)})) == "v CPU:1, v/read CPU:1, MatMul CPU:0");
}

TEST_CASE("a policy's bad answer names the node it was asked about") {
  world w{"cpu:0"};
  const device on{[](const node_view&) { return "/nonsense:0"; }};
  const auto e = caught([&] { constant(1.f, "a"); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() == "a");
}

TEST_CASE("what a policy throws reaches who makes the node, or looks at it when its scope is closed") {
  world w{"cpu:0"};
  auto x = placeholder<float>({}, "x");
  {
    const device on{[](const node_view&) -> device_spec { throw std::runtime_error("no idea"); }};
    const auto e = caught([] { constant(1.f, "a"); });
    CHECK_THAT(e.sentence(), Contains("no idea"));
    CHECK(e.node() == "a");
    const expr<float> y = -x;
    (void)y;
  }
  CHECK(caught([&] { w.g.find("x"); }).node() == "Neg");
  CHECK(where(w.plan({constant(1.f, "b")})) == "b CPU:0");
}

TEST_CASE("an unknown device is refused by a sentence that lists the devices") {
  world w{"cpu:0", "cpu:1"};
  const device on{"/gpu:9"};
  auto a = constant(1.f, "a");
  const int line = __LINE__ - 1;
  const auto e = caught([&] { w.plan({a}); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.sentence(), Catch::StartsWith("'a' cannot be placed on /device:GPU:9: no such device; there are " +
                                             only_task + "CPU:0, " + only_task + "CPU:1 (asked for by guard at "));
  CHECK_THAT(e.sentence(), Catch::EndsWith("; soft placement would loosen the request"));
  CHECK(e.node() == "a");
  CHECK(line_of(e) == here(line));
  CHECK(e.device() == "/device:GPU:9");
}

TEST_CASE("a job or device type that nobody has is told beside the one that was meant, and who asked for it") {
  world w{"/job:ps/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:0/gpu:0"};
  const auto about = [&](const char* spec) {
    const device on{spec};
    return caught([&] { w.plan({constant(1.f)}); }).sentence();
  };
  CHECK_THAT(about("/job:wroker"), Contains("cannot be placed on /job:wroker: no such device; there are ") &&
                                       Contains("; did you mean 'worker'? (asked for by guard at "));
  CHECK_THAT(about("/device:GPUU:0"), Contains("; did you mean 'GPU'? (asked for by guard at "));
  CHECK_THAT(about("/job:master"), !Contains("did you mean"));
  CHECK_THAT(about("/job:worker/task:7"), !Contains("did you mean"));
}

TEST_CASE("without devices nothing is placed") {
  world w{};
  CHECK(failure([&] { w.plan({constant(1.f)}); }) == "failed_precondition: there is no device to place nodes on");
}

// ---- preferences

TEST_CASE("a node that asks for nothing goes to the first GPU, else the first CPU") {
  for (bool gpu : {false, true}) {
    world w{"cpu:0", "cpu:1"};
    if (gpu) w.devices.push_back({parse_device(only_task + "GPU:0"), only_task + "GPU:0", 0, ""});
    auto x = placeholder<float>({1, 1}, "x");
    const auto p = w.plan({matmul(x, x)});
    CHECK(where(p) == (gpu ? "x GPU:0, MatMul GPU:0" : "x CPU:0, MatMul CPU:0"));
    CHECK(p.find("MatMul")->reason == "first device");
  }
}

TEST_CASE("numbers in names count as numbers") {
  world w{"gpu:10", "gpu:2", "cpu:0"};
  CHECK(where(w.plan({constant(1.f, "a")})) == "a GPU:2");
  world tasks{"/job:ps/replica:0/task:10/cpu:0", "/job:ps/replica:0/task:2/cpu:0"};
  CHECK(where(tasks.plan({constant(1.f, "a")})) == "a /job:ps/replica:0/task:2/device:CPU:0");
}

TEST_CASE("the home task is preferred where a request names neither job nor task") {
  world w{"/job:ps/replica:0/task:0/cpu:0", "/job:ps/replica:0/task:1/gpu:0", "/job:worker/replica:0/task:1/cpu:0"};
  w.home = parse_device("/job:worker/replica:0/task:1");
  CHECK(where(w.plan({constant(1.f, "a")})) == "a /job:worker/replica:0/task:1/device:CPU:0");
  const device cpu{"/cpu:0"};
  CHECK(where(w.plan({constant(1.f, "b")})) == "b /job:worker/replica:0/task:1/device:CPU:0");
  const device ps{"/job:ps"};
  CHECK(where(w.plan({constant(1.f, "c")})) == "c /job:ps/replica:0/task:0/device:CPU:0");
  const device gpu{"/gpu:0"};
  CHECK(where(w.plan({constant(1.f, "d")})) == "d /job:ps/replica:0/task:1/device:GPU:0");
}

TEST_CASE("a request that names only a job is met by the home task if it is one of that job") {
  world w{"/job:ps/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:1/cpu:0"};
  w.home = parse_device("/job:worker/replica:0/task:1");
  const device worker{"/job:worker"};
  CHECK(where(w.plan({constant(1.f, "a")})) == "a /job:worker/replica:0/task:1/device:CPU:0");
  const device ps{"/job:ps"};
  CHECK(where(w.plan({constant(1.f, "b")})) == "b /job:ps/replica:0/task:0/device:CPU:0");
}

TEST_CASE("a request that names only a task is met by the home task if it has that number") {
  world w{"/job:ps/replica:0/task:1/cpu:0", "/job:worker/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:1/cpu:0"};
  w.home = parse_device("/job:worker/replica:0/task:1");
  const device on{"/task:1"};
  CHECK(where(w.plan({constant(1.f, "a")})) == "a /job:worker/replica:0/task:1/device:CPU:0");
}

TEST_CASE("where a job is named, the better device type of another of its tasks goes before the home task") {
  world w{"/job:worker/replica:0/task:0/gpu:0", "/job:worker/replica:0/task:1/cpu:0"};
  w.home = parse_device("/job:worker/replica:0/task:1");
  CHECK(where(w.plan({constant(1.f, "a")})) == "a /job:worker/replica:0/task:1/device:CPU:0");
  const device on{"/job:worker"};
  CHECK(where(w.plan({constant(1.f, "b")})) == "b /job:worker/replica:0/task:0/device:GPU:0");
}

TEST_CASE("a constant follows its consumers if they stand together") {
  world w{"cpu:0", "cpu:1"};
  auto one = constant<float>(one_number, "one"), both = constant<float>(one_number, "both");
  const device on{"/cpu:1"};
  auto a = matmul(one, both);
  const device elsewhere{"/cpu:0"};
  auto b = matmul(both, both);
  const auto p = w.plan({a, b});
  CHECK(where(p) == "one CPU:1, both CPU:0, MatMul CPU:1, MatMul_1 CPU:0");
  CHECK(p.find("one")->reason == "with its consumers");
}

TEST_CASE("a constant with a request of its own does not follow") {
  world w{"cpu:0", "cpu:1"};
  auto a = place<"/cpu:0">(constant<float>(one_number, "a"));
  const device on{"/cpu:1"};
  CHECK(where(w.plan({matmul(a, a)})) == "a CPU:0, MatMul CPU:1");
}

// ---- groups

TEST_CASE("what takes a reference stands with the variable") {
  world w{"cpu:0", "cpu:1"};
  auto v = [] {
    const device on{"/cpu:1"};
    return variable(tensor<float>::of({{1}}), {.name = "v"});
  }();
  const device elsewhere{"/cpu:0"};
  auto up = assign_add(v, constant<float>(one_number, "c"));
  const auto p = w.plan({up, v.initializer(), v.read()});
  CHECK(where(p) == "v/initial_value CPU:1, v CPU:1, v/Assign CPU:1, v/read CPU:1, c CPU:0, AssignAdd CPU:1");
  CHECK(p.find("AssignAdd")->reason == "with v");
}

TEST_CASE("colocate_with binds to a node's device, against the guards outside") {
  world w{"cpu:0", "cpu:1"};
  auto a = place<"/cpu:1">(constant<float>(one_number, "a"));
  const device on{"/cpu:0"};
  const colocate_with near{a};
  CHECK(where(w.plan({constant(1.f, "b"), a})) == "a CPU:1, b CPU:1");
}

TEST_CASE("a guard inside colocate_with gives way to the node's device, and all is placed") {
  world w{"cpu:0", "cpu:1"};
  auto a = place<"/cpu:1">(constant<float>(one_number, "a"));
  const colocate_with near{a};
  const device on{"/cpu:0"};
  const auto p = w.plan({constant(1.f, "b"), a});
  CHECK(where(p) == "a CPU:1, b CPU:1");
  CHECK(p.find("b")->reason == "with a");
}

TEST_CASE("where a colocated node is the only one that was asked for, the others follow it") {
  world w{"cpu:0", "cpu:1"};
  auto a = constant<float>(one_number, "a");
  const colocate_with near{a};
  const device on{"/cpu:1"};
  const int line = __LINE__ - 1;
  const auto p = w.plan({constant(1.f, "b"), a});
  CHECK(where(p) == "a CPU:1, b CPU:1");
  CHECK(p.find("a")->reason == "with b");
  CHECK_THAT(p.find("b")->reason, Catch::StartsWith("pinned by guard at ") && Catch::EndsWith(here(line)));
}

TEST_CASE("what stands with a node that the step leaves out is told to be with it, not to be pinned") {
  world w{"cpu:0", "cpu:1"};
  auto a = place<"/cpu:1">(constant<float>(one_number, "a"));
  const colocate_with near{a};
  const auto p = w.plan({constant(1.f, "b")});
  CHECK(where(p) == "b CPU:1");
  CHECK(p.find("b")->reason == "with a");
}

TEST_CASE("a fresh read inside control_dependencies ties no groups") {
  world w{"cpu:0", "cpu:1"};
  auto v = place<"/cpu:0">(variable(1.f, {.name = "v"}));
  auto a = place<"/cpu:1">(constant(1.f, "a"));
  const colocate_with near{a};
  const control_dependencies after{a};
  const auto p = w.plan({operation(identity(v, "b"))});
  CHECK(p.device_of("v/read_1") == only_task + "CPU:0");
  CHECK(p.device_of("b") == only_task + "CPU:1");
}

// ---- queues: resources that guards around their ops have a say in

TEST_CASE("a queue that asks for nothing goes where the first guard around its ops says") {
  world w{"cpu:0", "cpu:1", "cpu:2"};
  const fifo_queue<float> q({.capacity = 2, .name = "q"});
  const auto size = q.size();
  const device on{"/cpu:2"};
  const int line = __LINE__ - 1;
  const auto put = q.enqueue(1.f);
  const device elsewhere{"/cpu:1"};
  const auto taken = q.dequeue();
  const auto p = w.plan({put, taken, size});
  for (const char* name : {"q", "q_size", "q_enqueue", "q_dequeue"}) CHECK(p.device_of(name) == only_task + "CPU:2");
  CHECK(p.find("q")->reason == "with q_enqueue");
  CHECK_THAT(p.find("q_enqueue")->reason, Catch::StartsWith("pinned by guard at ") && Catch::EndsWith(here(line)));
  CHECK_THAT(p.find("q_dequeue")->reason,
             Catch::StartsWith("fallback from /device:CPU:1: its request /device:CPU:1 was "
                               "dropped: "));
}

TEST_CASE("a queue stays where its own guard put it") {
  world w{"cpu:0", "cpu:1"};
  const auto q = [] {
    const device on{"/cpu:1"};
    return fifo_queue<float>({.capacity = 2, .name = "q"});
  }();
  const device elsewhere{"/cpu:0"};
  CHECK(where(w.plan({q.dequeue()})) == "q CPU:1, q_dequeue CPU:1");
}

TEST_CASE("a step that leaves out the op which decides for a queue finds the queue at the same place, and says so") {
  world w{"cpu:0", "cpu:1", "cpu:2"};
  const fifo_queue<float> q({.capacity = 2, .name = "q"});
  {
    const device on{"/job:nowhere"};
    q.close();
  }
  {
    const device on{"/cpu:2"};
    q.enqueue(1.f);
  }
  const auto p = w.plan({q.dequeue()});
  CHECK(where(p) == "q CPU:2, q_dequeue CPU:2");
  CHECK_THAT(p.find("q")->reason,
             Catch::StartsWith("with q_enqueue, which this step does not run: pinned by guard at "));
}

TEST_CASE("members of a group that ask for different devices are refused, both named") {
  world w{"cpu:0", "cpu:1"};
  auto a = place<"/cpu:1">(constant<float>(one_number, "a"));
  const colocate_with near{a};
  auto b = constant<float>(one_number, "b");
  dsl::pin(w.g, id_of(b), parse_device("/cpu:0"), "here");
  const auto e = caught([&] { w.plan({a, b}); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.sentence() ==
        "'b' must stand with 'a', but 'a' asks for /device:CPU:1 and 'b' for /device:CPU:0; soft placement would let "
        "them "
        "stand apart");
  CHECK(e.node() == "b");
}

TEST_CASE("soft placement drops a colocation that cannot be, and the plan says so") {
  world w{"/job:ps/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:0/cpu:0"};
  w.soft = true;
  auto a = place<"/job:ps">(constant<float>(one_number, "a"));
  const colocate_with near{a};
  auto b = constant<float>(one_number, "b");
  dsl::pin(w.g, id_of(b), parse_device("/job:worker"), "here");
  const auto p = w.plan({a, b});
  CHECK(where(p) == "a /job:ps/replica:0/task:0/device:CPU:0, b /job:worker/replica:0/task:0/device:CPU:0");
  CHECK_THAT(p.find("b")->reason,
             Catch::EndsWith("; its colocation with 'a' was dropped: 'a' asks for /job:ps and 'b' for "
                             "/job:worker"));
}

TEST_CASE("an op that works on a variable gives up its own request for the variable's, and the plan says so") {
  world w{"cpu:0", "cpu:1"};
  auto v = place<"/cpu:1">(variable(1.f, {.name = "v"}));
  dsl::pin(w.g, id_of(v.initializer()), parse_device("/cpu:0"), "here");
  const auto p = w.plan({v.initializer()});
  CHECK(p.device_of("v/Assign") == only_task + "CPU:1");
  CHECK(p.find("v/Assign")->reason ==
        "fallback from /device:CPU:0: its request /device:CPU:0 was dropped: it works on 'v', which asks for "
        "/device:CPU:1");
}

// ---- kernels

TEST_CASE("an int32 variable on a GPU is refused, and the sentence says where a kernel exists") {
  world w{"cpu:0", "gpu:0"};
  const device on{"/gpu:0"};
  auto v = variable(3, {.name = "v"});
  const int line = __LINE__ - 1;
  const auto e = caught([&] { w.plan({v.initializer()}); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.sentence(), Contains("VariableV2 has no int32 kernel on GPU; there is one on CPU"));
  CHECK(e.node() == "v");
  CHECK(line_of(e) == here(line));
}

TEST_CASE("without a GPU in the house the missing kernel is still the better reason") {
  world w{"cpu:0"};
  const device on{"/gpu:0"};
  auto v = variable(3, {.name = "v"});
  CHECK_THAT(caught([&] { w.plan({v}); }).sentence(), Contains("has no int32 kernel on GPU"));
}

TEST_CASE("int32 constants and feeds have a GPU kernel") {
  world w{"cpu:0", "gpu:0"};
  const device on{"/gpu:0"};
  CHECK(where(w.plan({constant(1, "c"), placeholder<int>({}, "p")})) == "c GPU:0, p GPU:0");
}

TEST_CASE("an int32 variable without a request goes where its kernel is, and the plan says why") {
  world w{"cpu:0", "gpu:0"};
  auto v = variable(3, {.name = "v"});
  const auto p = w.plan({v});
  CHECK(where(p) == "v CPU:0");
  CHECK(p.find("v")->reason == "only kernel");
  CHECK(p.find("v")->refused.size() == 1);
  CHECK_THAT(p.find("v")->refused.at(0), Catch::StartsWith(only_task + "GPU:0: VariableV2 has no int32 kernel on GPU"));
}

TEST_CASE("a group goes where all of it has kernels") {
  world w{"cpu:0", "gpu:0"};
  auto v = variable(tensor<float>::of({{1}}), {.name = "v"});
  auto i = placeholder<int>({1, 1}, "i");
  const colocate_with near{v};
  CHECK(where(w.plan({matmul(i, i), v})) == "v CPU:0, i CPU:0, MatMul CPU:0");
}

// ---- soft placement

TEST_CASE("soft placement moves an int32 variable with all that stands with it, and tells of each") {
  world w{"cpu:0", "gpu:0"};
  w.soft = true;
  const device on{"/gpu:0"};
  auto v = variable(3, {.name = "v"});
  const auto p = w.plan({v.initializer(), v.read()});
  CHECK(where(p) == "v/initial_value GPU:0, v CPU:0, v/Assign CPU:0, v/read CPU:0");
  std::string moved;
  for (const auto& n : p.fallbacks()) {
    moved += n.name + " ";
    CHECK_THAT(n.reason, Catch::StartsWith("fallback from /device:GPU:0: "));
  }
  CHECK(moved == "v v/Assign v/read ");
  CHECK_THAT(p.find("v")->reason, Contains("VariableV2 has no int32 kernel on GPU"));
}

TEST_CASE("soft placement sends a missing GPU's nodes to the first GPU, or else to the first CPU") {
  world w{"cpu:0", "gpu:0"}, poor{"cpu:0", "cpu:1"};
  w.soft = poor.soft = true;
  {
    const auto use = w.g.as_default();
    const device on{"/gpu:9"};
    CHECK(where(w.plan({constant(1.f, "a")})) == "a GPU:0");
  }
  const device on{"/gpu:9"};
  const auto p = poor.plan({constant(1.f, "a")});
  CHECK(where(p) == "a CPU:0");
  CHECK_THAT(p.find("a")->reason, Catch::StartsWith("fallback from /device:GPU:9: no such device; there are "));
}

TEST_CASE("soft placement never leaves the job and task that were asked for") {
  world w{"cpu:0"};
  w.soft = true;
  const device on{"/job:ps/cpu:0"};
  CHECK(caught([&] { w.plan({constant(1.f, "a")}); }).code() == errc::invalid_argument);
}

TEST_CASE("soft placement changes nothing that can be met") {
  world w{"cpu:0", "cpu:1"};
  w.soft = true;
  const device on{"/cpu:1"};
  const auto p = w.plan({constant(1.f, "a")});
  CHECK(where(p) == "a CPU:1");
  CHECK(p.fallbacks().empty());
}

// ---- what was placed before

TEST_CASE("a node that was placed before keeps its device") {
  world w{"cpu:0", "cpu:1"};
  auto x = placeholder<float>({1, 1}, "x");
  w.kept[id_of(x)] = only_task + "CPU:1";
  const auto p = w.plan({x});
  CHECK(where(p) == "x CPU:1");
  CHECK(p.find("x")->reason == "kept from an earlier run");
}

TEST_CASE("what joins the group of a placed node goes to it") {
  world w{"cpu:0", "cpu:1"};
  auto v = variable(1.f, {.name = "v"});
  w.kept[id_of(v)] = only_task + "CPU:1";
  CHECK(where(w.plan({v.read()})) == "v CPU:1, v/read CPU:1");
}

TEST_CASE("a node without a kernel on its placed group's device is refused") {
  world w{"cpu:0", "gpu:0"};
  auto v = variable(1.f, {.name = "v"});
  CHECK(where(w.run({v})) == "v GPU:0");
  auto i = placeholder<int>({1, 1}, "i");
  const colocate_with near{v};
  auto product = matmul(i, i);  // int32: on CPU alone
  CHECK(caught([&] { w.plan({product, v}); }).code() == errc::invalid_argument);
}

TEST_CASE("a request that its placed group's device does not meet is refused without soft placement") {
  world w{"cpu:0", "cpu:1"};
  auto v = variable(1.f, {.name = "v"});
  CHECK(where(w.run({v})) == "v CPU:0");
  const colocate_with near{v};
  const device on{"/cpu:1"};
  auto c = constant(1.f, "c");
  CHECK(caught([&] { w.plan({c, v}); }).code() == errc::invalid_argument);
}

TEST_CASE("a variable never leaves its device, whatever comes to stand with it") {
  world w{"cpu:0", "gpu:0"};
  auto v = variable(1.f, {.name = "v"});
  const colocate_with near{v};
  auto i = placeholder<int>({1, 1}, "i");
  auto product = matmul(i, i);
  w.run({product});  // without v, on the CPU
  CHECK(where(w.run({v})) == "v GPU:0");
  const auto refused = caught([&] { w.plan({v, product}); });
  CHECK(refused.code() == errc::invalid_argument);
  CHECK_THAT(refused.sentence(), Contains("must stand with 'v', which is on " + only_task + "GPU:0"));
}

TEST_CASE("what was placed and has no state follows, when it comes to stand with others") {
  world w{"cpu:0", "gpu:0"};
  auto p = placeholder<float>({1, 4}, "p");
  auto t = placeholder<int>({1}, "t");
  auto a = in_top_k(p, t);  // on the CPU alone
  auto b = identity(constant<float>(one_number, "c"), "b");
  const colocate_with near_a{a};
  const colocate_with near_b{b};
  auto f = identity(b, "f");
  const auto fresh = where(w.plan({a, b, f}));
  w.run({b});
  w.run({a});
  CHECK(where(w.plan({a, b, f})).find("b CPU:0, ") != std::string::npos);
  CHECK(fresh.find("b CPU:0, ") != std::string::npos);
}

TEST_CASE("soft placement leaves a kept variable where it is, and drops what a newcomer wants of it") {
  world w{"cpu:0", "gpu:0"};
  w.soft = true;
  auto v = variable(tensor<float>::of({{1}}), {.name = "v"});
  CHECK(where(w.run({v})) == "v GPU:0");
  const colocate_with near{v};
  const device on{"/cpu:0"};
  auto u = variable(tensor<float>::of({{1}}), {.name = "u"});
  const auto p = w.plan({v, u});
  CHECK(p.device_of("v") == only_task + "GPU:0");
}

TEST_CASE("many pairs that history put apart are united in one more pass") {
  world w{"cpu:0", "gpu:0"};
  std::vector<operation> all;
  for (int i = 0; i < 1500; ++i) {
    auto v = variable(1, {.name = "v" + std::to_string(i)});  // int32: on the CPU
    const colocate_with near{v};
    auto c = constant<float>(one_number, "c" + std::to_string(i));
    w.kept[id_of(v)] = only_task + "CPU:0";
    w.kept[id_of(c)] = only_task + "GPU:0";
    all.push_back(v);
    all.push_back(c);
  }
  std::vector<node_id> targets;
  for (const auto& op : all) targets.push_back(id_of(op));
  const placement_problem problem{
      .graph = w.g, .nodes = ancestors(w.g, {}, targets), .devices = w.devices, .kept = w.kept};
  const placement placed = simple_placer{}(problem);
  for (std::size_t i = 0; i < placed.nodes().size(); ++i) CHECK(placed.device(i).name == only_task + "CPU:0");
}

// ---- what was given up

TEST_CASE("a request that its group does not share is noted on the node that made it") {
  world w{"cpu:0", "gpu:0", "gpu:1"};
  w.soft = true;
  auto a = place<"/gpu:0">(constant<float>(one_number, "a"));
  const colocate_with near{a};
  auto b = constant<float>(one_number, "b");
  dsl::pin(w.g, id_of(b), parse_device("/gpu:1"), "here");
  const auto p = w.plan({a, b});
  CHECK_THAT(p.find("b")->reason,
             Contains("its request /device:GPU:1 was loosened, since those that must stand with it ask for "
                      "something else"));
}

TEST_CASE("an error blames who asked, not who must stand with it") {
  world w{"cpu:0"};
  auto v = variable(1.f, {.name = "v"});
  dsl::pin(w.g, id_of(v.initializer()), parse_device("/gpu:9"), "here");
  const auto e = caught([&] { w.plan({v.initializer()}); });
  CHECK(e.node() == "v/Assign");
  CHECK_THAT(e.sentence(), Catch::StartsWith("'v/Assign' cannot be placed on /device:GPU:9: no such device"));
}

TEST_CASE("soft placement is offered only where it would help") {
  world w{"cpu:0"};
  const device on{"/job:foo/gpu:0"};
  CHECK_THAT(caught([&] { w.plan({constant(1.f, "a")}); }).sentence(), !Contains("soft placement"));
}

// ---- the plan as a value

TEST_CASE("a plan prints as an aligned table") {
  world w{"cpu:0", "gpu:0"};
  auto v = variable(3, {.name = "v"});
  auto x = placeholder<float>({1, 1}, "x");
  CHECK(fmt::format("{}\n", w.plan({v.read(), matmul(x, x)})) ==
        "node    op           device                                        reason\n"
        "v       VariableV2   /job:localhost/replica:0/task:0/device:CPU:0  only kernel\n"
        "v/read  Identity     /job:localhost/replica:0/task:0/device:CPU:0  with v\n"
        "x       Placeholder  /job:localhost/replica:0/task:0/device:GPU:0  with its consumers\n"
        "MatMul  MatMul       /job:localhost/replica:0/task:0/device:GPU:0  first device\n");
}

TEST_CASE("a plan holds only what its fetches need, and says so") {
  world w{"cpu:0"};
  auto a = constant(1.f, "a");
  constant(2.f, "b");
  const auto p = w.plan({a});
  CHECK(p.nodes().size() == 1);
  CHECK(p.find("b") == nullptr);
  CHECK(failure([&] { p.device_of("b"); }) == "not_found: the plan holds no node 'b'; only what its fetches need");
}

TEST_CASE("a plan knows the bytes and the line of each node") {
  world w{"cpu:0"};
  auto x = placeholder<double>({2, 3}, "x");
  const int line = __LINE__ - 1;
  auto y = placeholder<double>({unknown, 3}, "y");
  const auto p = w.plan({x, y});
  CHECK(p.find("x")->bytes_out == 48);
  CHECK(p.find("y")->bytes_out == 0);
  CHECK_THAT(p.find("x")->location, Catch::EndsWith(here(line)));
}

}  // namespace
