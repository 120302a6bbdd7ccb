// The processors that a process may use: its affinity, and the quotas of control groups of both versions.
#include <pinion/base/processors.hpp>

#include <sched.h>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <support/temporary_folder.hpp>

namespace {

using pinion::detail::quota_of_groups;

// A mount of control groups.
struct groups {
  temporary_folder folder;
  void put(const std::string& group, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(folder.path() + group);
    std::ofstream(folder.path() + group + "/" + file) << text << '\n';
  }
  double quota(const std::string& of) const { return quota_of_groups(of, folder.path()).value_or(-1); }
};

}  // namespace

TEST_CASE("a thread may use the processors of its affinity") {
  cpu_set_t all;
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  CHECK(pinion::usable_processors() <= CPU_COUNT(&all));
  int of_one = 0;
  std::thread([&] {
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    of_one = pinion::usable_processors();
  }).join();
  CHECK(of_one == 1);
}

TEST_CASE("a group of version 2 has the least quota on its way to the root") {
  const groups g;
  g.put("/pods/one", "cpu.max", "max 100000");
  CHECK(g.quota("0::/pods/one\n") == -1);
  g.put("/pods", "cpu.max", "150000 100000");
  CHECK(g.quota("0::/pods/one\n") == 1.5);
  g.put("/pods/one", "cpu.max", "50000 100000");
  CHECK(g.quota("0::/pods/one\n") == .5);
  CHECK(g.quota("0::/pods/two\n") == 1.5);
}

TEST_CASE("a container that sees its group as the root has the quota of the root") {
  const groups g;
  g.put("", "cpu.max", "200000 100000");
  CHECK(g.quota("0::/\n") == 2);
}

TEST_CASE("a group of version 1 has its quota in the hierarchy of the processors, by either name") {
  for (const std::string hierarchy : {"/cpu", "/cpu,cpuacct"}) {
    const groups g;
    g.put(hierarchy + "/docker/one", "cpu.cfs_quota_us", "250000");
    g.put(hierarchy + "/docker/one", "cpu.cfs_period_us", "100000");
    g.put(hierarchy, "cpu.cfs_quota_us", "-1");
    g.put(hierarchy, "cpu.cfs_period_us", "100000");
    CHECK(g.quota("4:memory:/docker/one\n3:cpu,cpuacct:/docker/one\n1:cpuset:/\n") == 2.5);
    CHECK(g.quota("3:cpu,cpuacct:/\n") == -1);
  }
}

TEST_CASE("texts that are no groups have no quota") {
  const groups g;
  for (const char* const text : {"", "\n", "::", "0::", "x", "1:cpu", "0::nowhere\n"}) CHECK(g.quota(text) == -1);
}
