// Threads in a hurry: what takes long is put by.
#include <pinion/base/hurried.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

namespace {

using pinion::hurried;

TEST_CASE("work that is put by in a hurry is left to the caller, in order") {
  std::vector<int> did;
  const auto left = hurried::run([&] {
    for (const int i : {1, 2}) hurried::of_this_thread()->put_by([&did, i] { did.push_back(i); });
  });
  CHECK(did.empty());
  CHECK(hurried::of_this_thread() == nullptr);
  for (const auto& work : left) work();
  CHECK(did == std::vector{1, 2});
}

TEST_CASE("a hurry within another has its own work, and both end with their functions, also by an exception") {
  std::size_t within = 0;
  const auto left = hurried::run([&] {
    hurried* const outer = hurried::of_this_thread();
    within = hurried::run([] { hurried::of_this_thread()->put_by([] {}); }).size();
    CHECK(hurried::of_this_thread() == outer);
    CHECK_THROWS_AS(hurried::run([] { throw std::runtime_error("no"); }), std::runtime_error);
    CHECK(hurried::of_this_thread() == outer);
  });
  CHECK(within == 1);
  CHECK(left.empty());
}

}  // namespace
