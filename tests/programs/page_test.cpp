// The page that pinion_status shows.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include <status/page.hpp>

#include "sample.hpp"

namespace {

std::string text_of(const std::string& name) {
  std::ifstream in(std::string(PINION_TEST_SOURCE_DIR "/") + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("the page is the one that the README shows") {
  CHECK(status::page(sample(), {.width = 120}).whole() == text_of("examples/expected/pinion_status.txt"));
}

std::string with_single_spaces(const std::string& line) {
  std::istringstream words(line);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}
// The first lines of the tables of a page.
std::set<std::string> headings(const std::string& page) {
  std::set<std::string> all;
  std::istringstream lines(page);
  bool begins = false;
  for (std::string line; std::getline(lines, line); begins = line.empty())
    if (begins) all.insert(with_single_spaces(line));
  return all;
}
// The bold lines of a picture.
std::set<std::string> bold_lines(const std::string& picture) {
  std::set<std::string> all;
  const std::regex bold("class=\"b\"[^>]*>([^<]*)<");
  for (std::sregex_iterator at(picture.begin(), picture.end(), bold), end; at != end; ++at)
    all.insert(with_single_spaces((*at)[1]));
  return all;
}

TEST_CASE("the terminal in the README's picture has tables that the program shows today") {
  auto without_gpus = sample();
  for (auto& task : without_gpus.tasks)
    if (task.report)
      for (auto& device : task.report->devices) device.description.clear();
  const auto live = bold_lines(text_of(".github/pinion_status.svg")),
             now = headings(status::page(without_gpus, {.width = 120}).whole());
  CHECK(live.size() >= 5);
  CHECK(std::includes(now.begin(), now.end(), live.begin(), live.end()));
}

TEST_CASE("no line of a page is wider than the terminal, and what is cut says so") {
  const auto all = sample();
  const status::page narrow(all, {.width = 60});
  bool any_cut = false;
  for (const std::string& line : narrow.lines()) {
    INFO(line);
    CHECK(status::width_of(line) <= 60);
    any_cut |= line.ends_with("…");
  }
  CHECK(any_cut);
}

TEST_CASE("a page for people shows ten variables of a task and how many more there are, or all on demand") {
  auto all = sample();
  auto& ps = *all.tasks[0].report;
  ps.variables.resize(25, ps.variables[0]);
  ps.variable_count = 30'000;  // the report itself leaves some out
  CHECK_THAT(status::page(all, {.rows = 10}).whole(), Catch::Contains("and 29990 more"));
  CHECK_THAT(status::page(all, {.rows = 0}).whole(), Catch::Contains("and 29975 more"));
}

TEST_CASE("colours are for terminals, and a task that is not there is red") {
  const auto all = sample();
  CHECK_THAT(status::page(all, {}).whole(), !Catch::Contains("\x1b["));
  CHECK_THAT(status::page(all, {.colours = true}).whole(), Catch::Contains("\x1b[31m/job:ps/task:1"));
}

TEST_CASE("a column in which no row says anything is left out") {
  status::table t({status::text("NAME"), status::text("KIND"), status::number("SIZE")});
  t.add({"a", "", "1"});
  t.add({"bb"});
  CHECK(t.lines(80) == std::vector<std::string>{"NAME  SIZE", "a        1", "bb"});
  t.add({"c", "x", "2"});
  CHECK(t.lines(80).front() == "NAME  KIND  SIZE");
}

TEST_CASE("numbers are told as people read them") {
  using namespace status;
  CHECK(bytes(std::uint64_t{0}) == "0");
  CHECK(bytes(std::uint64_t{1023}) == "1023 B");
  CHECK(bytes(std::uint64_t{1536}) == "1.5 KiB");
  CHECK(bytes(std::uint64_t{10} << 20) == "10 MiB");
  CHECK(bytes(std::uint64_t{1023} << 20) == "1.0 GiB");
  CHECK(span(0.0004) == "<1 ms");
  CHECK(span(0.04) == "40 ms");
  CHECK(span(9.96) == "10 s");
  CHECK(span(754.2) == "12m 34s");
  CHECK(span(3600) == "1h 00m");
  CHECK(span(90'000) == "1d 1h");
  CHECK(rate(0) == "0");
  CHECK(rate(0.2) == "0.2");
  CHECK(rate(1204.4) == "1204");
  CHECK(cut("naïve", 4) == "naï…");
  CHECK(cut("naïve", 5) == "naïve");
}

}  // namespace
