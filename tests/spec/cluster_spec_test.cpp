// A cluster spec as a value: how it is written, what it answers, what it refuses.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/host_port.hpp>

namespace pn = pinion;

namespace {

const pn::cluster_spec cluster{{"ps", {"127.0.0.1:2221"}}, {"worker", {"127.0.0.1:2222", "127.0.0.1:2223"}}};
const pn::cluster_spec sparse{{"ps", {{0, "a:1"}, {5, "b:1"}}}};

template <class Make>
std::string refusal(pn::errc code, Make make) {
  try {
    make();
  } catch (const pn::error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  return "no error";
}
template <class Make>
std::string invalid(Make make) {
  return refusal(pn::errc::invalid_argument, make);
}
template <class Make>
std::string missing(Make make) {
  return refusal(pn::errc::not_found, make);
}

std::string listed(pn::cluster_spec given) {
  return to_string(given);
}

using Catch::Contains;

// Host and port.
static_assert(pn::host_port("localhost:0").port == 0);
static_assert(pn::host_port("my-host_1.example.org:65535").host == "my-host_1.example.org");
static_assert(pn::host_port("[::1]:2222").host == "[::1]" && pn::host_port("[fe80::1%eth0]:1").valid());
static_assert(!pn::host_port("").valid() && !pn::host_port("host").valid() && !pn::host_port("host:").valid());
static_assert(!pn::host_port(":1").valid() && !pn::host_port("host:65536").valid() &&
              !pn::host_port("host:-1").valid());
static_assert(!pn::host_port("::1:2222").valid() && !pn::host_port("[::1]").valid() && !pn::host_port("[]:1").valid());
static_assert(!pn::host_port("[host]:1").valid() && !pn::host_port("h/x:1").valid() && !pn::host_port("h :1").valid());
static_assert(!pn::host_port("a:1:2").valid() && !pn::host_port("h:99999999999999999999").valid());

}  // namespace

TEST_CASE("an address leads somewhere if it names a port and one host, and to this machine by many spellings") {
  for (const char* address : {"10.0.0.1:1", "[::1]:1", "host:1", "0.example:1"})
    CHECK(pn::host_port(address).leads_somewhere());
  for (const char* address :
       {"host:0", "0.0.0.0:1", "0:1", "0x0:1", "[::]:1", "[0:0::0.0.0.0]:1", "[::ffff:0.0.0.0]:1", "host"})
    CHECK(!pn::host_port(address).leads_somewhere());
  for (const char* address : {"localhost:1", "LOCALHOST:0", "localhost.:1", "127.0.0.1:1", "127.1:1", "127.0.1.1:1",
                              "[::1]:1", "[0::1]:1", "[::ffff:127.0.0.1]:1"})
    CHECK(pn::host_port(address).is_loopback());
  for (const char* address : {"10.0.0.1:1", "0.0.0.0:1", "127.example:1", "localhost.example:1", "[::]:1", "localhost"})
    CHECK(!pn::host_port(address).is_loopback());
}

TEST_CASE("a cluster knows its jobs, tasks and addresses") {
  CHECK(cluster.jobs() == std::vector<std::string>{"ps", "worker"});
  CHECK(cluster.num_tasks("worker") == 2);
  CHECK(cluster.task_indices("worker") == std::vector<int>{0, 1});
  CHECK(cluster.address("worker", 1) == "127.0.0.1:2223");
  CHECK(cluster.has("ps"));
  CHECK(cluster.has("ps", 0));
  CHECK_FALSE(cluster.has("ps", 1));
  CHECK_FALSE(cluster.has("moon"));
  CHECK_FALSE(cluster.has("moon", 0));
}

TEST_CASE("a sparse job has the tasks it names") {
  CHECK(sparse.num_tasks("ps") == 2);
  CHECK(sparse.task_indices("ps") == std::vector<int>{0, 5});
  CHECK(sparse.address("ps", 5) == "b:1");
  CHECK_FALSE(sparse.has("ps", 1));
}

TEST_CASE("two literals in braces are two tasks, and a number before a literal is an index") {
  CHECK(listed({{"w", {"a:1", "b:2"}}}) == R"({"w": ["a:1", "b:2"]})");
  CHECK(listed({{"w", {{"a:1"}, {"b:2"}}}}) == R"({"w": ["a:1", "b:2"]})");
  CHECK(listed({{"w", {"a:1"}}}) == R"({"w": ["a:1"]})");
  CHECK(listed({{"w", {{3, "a:1"}}}}) == R"({"w": {"3": "a:1"}})");
  CHECK(listed({{"w", {{0, "a:1"}, {1, "b:2"}}}}) == R"({"w": ["a:1", "b:2"]})");
  CHECK(listed({{"w", {"a:1", {5, "b:2"}, "c:3"}}}) == R"({"w": {"0": "a:1", "2": "c:3", "5": "b:2"}})");
  CHECK(listed({{"w", {}}}) == R"({"w": []})");
  CHECK(listed({{"a", {"a:1"}}, {"b", {"b:2"}}}) == R"({"a": ["a:1"], "b": ["b:2"]})");
  CHECK(listed({}) == "{}");
}

TEST_CASE("names and addresses may be strings made at run time") {
  const std::string job = "worker", first = "a:1";
  const std::vector<std::string> addresses{first, "b:2"};
  CHECK(pn::cluster_spec{{job, {first, "b:2"}}} == pn::cluster_spec{{"worker", addresses}});
  pn::cluster_spec grown;
  grown.add_task(job, 1, "b:2").add_task(job, 0, first).add_job("ps");
  CHECK(grown == pn::cluster_spec{{"ps", {}}, {"worker", {"a:1", "b:2"}}});
}

TEST_CASE("clusters are equal when they say the same, in any order") {
  CHECK(cluster ==
        pn::cluster_spec{{"worker", {{1, "127.0.0.1:2223"}, {0, "127.0.0.1:2222"}}}, {"ps", {"127.0.0.1:2221"}}});
  CHECK(cluster != sparse);
}

TEST_CASE("the text of a cluster is the cluster object of TF_CONFIG") {
  CHECK(to_string(cluster) == R"({"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222", "127.0.0.1:2223"]})");
  CHECK(to_string(sparse) == R"({"ps": {"0": "a:1", "5": "b:1"}})");
}

TEST_CASE("jobs are listed in natural order") {
  const pn::cluster_spec many{{"w10", {}}, {"w9", {}}, {"w1", {}}};
  CHECK(many.jobs() == std::vector<std::string>{"w1", "w9", "w10"});
}

TEST_CASE("asking for what is not there names what is") {
  CHECK(missing([] { cluster.address("moon", 0); }) == "the cluster has no job 'moon'; it has: ps, worker");
  CHECK(missing([] { cluster.num_tasks("moon"); }) == "the cluster has no job 'moon'; it has: ps, worker");
  CHECK(missing([] { cluster.address("wroker", 0); }) ==
        "the cluster has no job 'wroker'; it has: ps, worker; did you mean 'worker'?");
  CHECK(missing([] { pn::cluster_spec{}.task_indices("ps"); }) == "the cluster has no job 'ps'; it has: none");
  CHECK(missing([] { sparse.address("ps", 1); }) == "the cluster has no task 1 of job 'ps'; this job has tasks: 0, 5");
}

TEST_CASE("what is given twice is refused, but port 0 is never the same address") {
  CHECK(invalid([] { pn::cluster_spec{{"ps", {}}, {"ps", {}}}; }) == "job 'ps' is given twice");
  CHECK(invalid([] { pn::cluster_spec{{"ps", {{1, "a:1"}, {1, "b:1"}}}}; }) == "task 1 of job 'ps' is given twice");
  CHECK(invalid([] {
          pn::cluster_spec{{"ps", {"a:1"}}, {"worker", {"b:1", "A:01"}}};
        }) == "address 'A:01' is given twice: to task 0 of job 'ps' and to task 1 of job 'worker'");
  CHECK(listed({{"ps", {"a:0", "a:0"}}}) == R"({"ps": ["a:0", "a:0"]})");
  const std::vector<std::pair<std::string, std::string>> spellings{{"127.0.0.1:1", "127.1:1"},
                                                                   {"[::1]:1", "[0:0::0:1]:1"},
                                                                   {"[::FFFF:10.0.0.1]:1", "10.0.0.1:1"},
                                                                   {"host:1", "HOST.:1"},
                                                                   {"[fe80::1%eth0]:1", "[FE80::1%eth0]:1"}};
  for (const auto& [one, other] : spellings)
    CHECK(invalid([&, a = one, b = other] {
            pn::cluster_spec{{"ps", {a, b}}};
          }) == "address '" + other + "' is given twice: to task 0 of job 'ps' and to task 1 of job 'ps'");
  CHECK(listed({{"ps", {"[fe80::1%eth0]:1", "[fe80::1%eth1]:1", "a:1", "a:2", "[::1]:1", "127.0.0.1:1"}}}).size() > 0);
}

TEST_CASE("bad names, addresses and indices are refused with a sentence") {
  CHECK_THAT(invalid([] { pn::cluster_spec{{"1st", {}}}; }), Contains("bad job name '1st'"));
  CHECK_THAT(invalid([] { pn::cluster_spec{{"", {}}}; }), Contains("bad job name ''"));
  CHECK_THAT(invalid([] { pn::cluster_spec{{"ps", {{-1, "a:1"}}}}; }), Contains("task -1 of job 'ps'"));
  CHECK(invalid([] {
          pn::cluster_spec{{"ps", {"a:1", "b"}}};
        }) ==
        "address 'b' of task 1 of job 'ps' cannot be read; write host:port, the port from 0 to 65535, an IPv6 host in "
        "brackets");
}

TEST_CASE("a refused task leaves the cluster as it was") {
  pn::cluster_spec grown = sparse;
  CHECK_THROWS_AS(grown.add_task("ps", 6, "a:1"), pn::error);
  CHECK_THROWS_AS(grown.add_task("new", 0, "no port"), pn::error);
  CHECK_THROWS_AS(grown.add_task("1st", 0, "c:1"), pn::error);
  CHECK(grown == sparse);
}
