// The test runner, compiled once. After the run it prints the count of test cases on a line of its own, for
// tests/run.sh.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <cstdlib>
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

// Expected results are those of a machine without GPUs, unless PINION_TEST_GPUS says which ones the tests may see.
const bool gpus_are_hidden = [] {
  const char* const seen = std::getenv("PINION_TEST_GPUS");
  return setenv("CUDA_VISIBLE_DEVICES", seen ? seen : "-1", 1) == 0;
}();

}  // namespace
