// Lines that somebody else causes.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/base/few_lines.hpp>

namespace {

using namespace pinion;
using namespace std::chrono_literals;

TEST_CASE("of many lines a few are told, fewer of one who causes them, and then how many more there were") {
  std::vector<std::string> told;
  few_lines lines({.most = 5, .most_of_one = 2, .before = "and ", .after = " more, up to "},
                  [&](const std::string& line) { told.push_back(line); });
  const time_point began{};
  const auto add = [&](const std::string& one, int n) {
    lines.add(one, one + std::to_string(n), std::to_string(n), began + 20s);
  };
  for (int i = 0; i < 100; ++i) add("loud", i);
  add("other", 1);
  CHECK(told == std::vector<std::string>{"loud0", "loud1", "other1"});
  for (const std::string one : {"a", "b", "c"}) add(one, 7);
  CHECK(told.size() == 5);
  lines.tell_rest(began + 29s);
  CHECK(told.size() == 5);
  lines.tell_rest(began + 30s);
  CHECK(told.back() == "and 99 more, up to 7");
  lines.tell_rest(began + 50s);
  CHECK(told.size() == 6);
}

}  // namespace
