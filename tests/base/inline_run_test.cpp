// Inline runs: what takes long is put by.
#include <pinion/base/inline_run.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

namespace {

using pinion::inline_run;

TEST_CASE("work that is put by in an inline run is left to the caller, in order") {
  std::vector<int> did;
  const auto left = inline_run::run([&] {
    for (const int i : {1, 2}) inline_run::of_this_thread()->put_by([&did, i] { did.push_back(i); });
  });
  CHECK(did.empty());
  CHECK(inline_run::of_this_thread() == nullptr);
  for (const auto& work : left) work();
  CHECK(did == std::vector{1, 2});
}

TEST_CASE("an inline run within another has its own work, and both end with their functions, also by an exception") {
  std::size_t within = 0;
  const auto left = inline_run::run([&] {
    inline_run* const outer = inline_run::of_this_thread();
    within = inline_run::run([] { inline_run::of_this_thread()->put_by([] {}); }).size();
    CHECK(inline_run::of_this_thread() == outer);
    CHECK_THROWS_AS(inline_run::run([] { throw std::runtime_error("no"); }), std::runtime_error);
    CHECK(inline_run::of_this_thread() == outer);
  });
  CHECK(within == 1);
  CHECK(left.empty());
}

}  // namespace
