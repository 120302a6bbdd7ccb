// Placement policies: the shipped ones, users' own, and what plans say of them.
#include <pinion/base/md5.hpp>
#include <pinion/graph.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>

#include "world.hpp"

namespace {

using namespace pinion;
using Catch::Contains;

std::string request(const operation& op) {
  return to_string(default_graph()[id_of(op)].requested);
}

// ---- by the compiler

struct answers_a_spec {
  device_spec operator()(const node_view&) const { return {}; }
};
struct answers_a_string {
  std::string operator()(const node_view&) { return ""; }
};
struct answers_a_number {
  int operator()(const node_view&) const { return 0; }
};
struct asks_for_nothing {
  device_spec operator()() const { return {}; }
};
static_assert(placement_policy<answers_a_spec>);
static_assert(placement_policy<answers_a_string>);
static_assert(!placement_policy<answers_a_number>);
static_assert(!placement_policy<asks_for_nothing>);
static_assert(!placement_policy<int>);
static_assert(placement_policy<replica_device_setter<>>);
static_assert(placement_policy<replica_device_setter<greedy_load_balancing>>);
static_assert(placement_policy<replica_device_setter<hashed>>);
static_assert(placement_policy<variables_on>);
static_assert(placement_policy<round_robin_over>);
static_assert(placement_policy<first_of<variables_on, answers_a_string>>);
static_assert(placement_policy<by_op<when<op::variable, "/job:ps">>>);
static_assert(ps_strategy<round_robin> && ps_strategy<greedy_load_balancing> && ps_strategy<hashed>);

// ---- the shipped ones

TEST_CASE("variables_on sends variables there, and nothing else; guards inside win") {
  graph g;
  const auto use = g.as_default();
  const device on{variables_on{"/job:ps/cpu:0"}};
  CHECK(request(variable(1.f, {.name = "v"})) == "/job:ps/device:CPU:0");
  CHECK(request(constant(1.f)) == "");
  const device inner{"/cpu:1"};
  CHECK(request(variable(1.f, {.name = "w"})) == "/job:ps/device:CPU:1");
}

TEST_CASE("round_robin_over deals nodes out in turn; a node with a device type takes no turn") {
  graph g;
  const auto use = g.as_default();
  const device on{round_robin_over{"/gpu:0", "/gpu:1"}};
  CHECK(request(constant(1.f)) == "/device:GPU:0");
  CHECK(request(place<"/cpu:0">(constant(1.f))) == "/device:CPU:0");
  CHECK(request(constant(1.f)) == "/device:GPU:0");
  CHECK(failure([] { round_robin_over none(std::vector<device_spec>{}); }) ==
        "invalid_argument: round_robin_over has no devices to deal nodes out to");
}

TEST_CASE("first_of asks in turn until one has something to say") {
  graph g;
  const auto use = g.as_default();
  int asked = 0;
  const device on{first_of{variables_on{"/job:ps"}, [&](const node_view& op) {
                             ++asked;
                             return op.is<op::constant>() ? "/cpu:1" : "";
                           }}};
  CHECK(request(no_op()) == "");
  CHECK(asked == 1);
  CHECK(request(constant(1.f)) == "/device:CPU:1");
  CHECK(asked == 2);
  auto v = variable(1.f, {.name = "v"});
  CHECK(request(v) == "/job:ps");
  CHECK(asked == 3);  // about v/initial_value
}

TEST_CASE("by_op is a table from op types to places") {
  graph g;
  const auto use = g.as_default();
  const device on{by_op<when<op::variable, "/job:ps">, when<op::matmul, "/gpu:1">>{}};
  auto v = variable(zeros<float>({2, 2}), {.name = "v"});
  CHECK(request(v) == "/job:ps");
  CHECK(request(matmul(v, v)) == "/device:GPU:1");
  CHECK(request(constant(1.f)) == "");
}

TEST_CASE("greedy load balancing counts bytes, or what the user counts") {
  graph g;
  const auto use = g.as_default();
  {
    const device on{replica_device_setter<greedy_load_balancing>{{.ps_tasks = 2}}};
    CHECK(request(variable(zeros<float>({100}), {.name = "a"})) == "/job:ps/task:0");
    CHECK(request(variable(zeros<float>({10}), {.name = "b"})) == "/job:ps/task:1");
    CHECK(request(variable(zeros<float>({10}), {.name = "c"})) == "/job:ps/task:1");
  }
  const device on{replica_device_setter<greedy_load_balancing>{
      {.ps_tasks = 2}, {.load = [](const node_view& op) { return op.name() == "heavy" ? 10. : 1.; }}}};
  CHECK(request(variable(1.f, {.name = "heavy"})) == "/job:ps/task:0");
  for (const char* name : {"x", "y", "z"}) CHECK(request(variable(1.f, {.name = name})) == "/job:ps/task:1");
}

TEST_CASE("hashed goes by the name alone") {
  const auto where = [](std::initializer_list<const char*> names) {
    graph g;
    const auto use = g.as_default();
    const device on{replica_device_setter<hashed>{{.ps_tasks = 5}}};
    std::map<std::string, std::string> found;
    for (const char* name : names) found[name] = request(variable(1.f, {.name = name}));
    return found;
  };
  CHECK(where({"a", "b", "c"}) == where({"c", "a", "b"}));
}

TEST_CASE("a policy's null pointer and a setter's negative number are errors") {
  graph g;
  const auto use = g.as_default();
  CHECK_THAT(failure([] { replica_device_setter<> bad{{.ps_tasks = -1}}; }), Contains("ps_tasks is -1, below 0"));
  const device on{[](const node_view&) -> const char* { return nullptr; }};
  CHECK_THAT(failure([] { no_op("n"); }), Contains("answered with a null pointer"));
}

// ---- reported in the plan

TEST_CASE("a policy that never changed anything is named in the plan") {
  world w{"cpu:0"};
  const device idle{by_op<when<op::matmul, "/cpu:0">>{}};
  const int line = __LINE__ - 1;
  const device busy{variables_on{"/cpu:0"}};
  auto v = variable(1.f, {.name = "v"});
  const auto p = make_plan(w.g, w.devices, simple_placer{}, {v});
  REQUIRE(p.notes().size() == 1);
  CHECK_THAT(p.notes()[0],
             Catch::StartsWith("policy by_op at ") && Contains(here(line)) && Catch::EndsWith(" and changed none"));
  CHECK_THAT(fmt::format("{}", p), Contains("note: policy by_op at "));
}

TEST_CASE("the reason says which field came from which guard or policy") {
  world w{"/job:ps/replica:0/task:1/cpu:0"};
  const device on{replica_device_setter{{.ps_tasks = 2}}};
  const int policy = __LINE__ - 1;
  const device cpu{"/task:1/cpu:0"};
  const int guard = __LINE__ - 1;
  auto v = variable(1.f, {.name = "v"});
  const auto reason = w.plan({v}).find("v")->reason;
  CHECK_THAT(reason, Contains(here(guard) + " (/task:1/device:CPU:0), policy replica_device_setter at "));
  CHECK_THAT(reason, Catch::EndsWith(here(policy) + " (/job:ps)"));
}

// ---- digests

std::string hex(std::string_view text) {
  std::string s;
  for (const unsigned char byte : md5(text)) s += fmt::format("{:02x}", byte);
  return s;
}

TEST_CASE("md5 is that of RFC 1321") {
  CHECK(hex("") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(hex("abc") == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890") ==
        "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace
