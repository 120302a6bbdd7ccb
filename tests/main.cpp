// The test runner, compiled once. After the run it prints the count of test cases on a line of its own, for
// tests/run.sh.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <iostream>

namespace {

struct count_line : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats& run) override {
    const Catch::Counts& cases = run.totals.testCases;
    std::cout << cases.passed + cases.failedButOk << " passed, " << cases.failed << " failed\n";
  }
};
CATCH_REGISTER_LISTENER(count_line)

}  // namespace
