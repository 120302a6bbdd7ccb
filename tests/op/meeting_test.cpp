// What replicas that wait for each other are told: for whom, by task, who was dropped, and who is back.
#include <catch2/catch.hpp>

#include <pinion/state/barrier.hpp>
#include <pinion/state/clock.hpp>

#include "support/caught.hpp"

namespace {

using namespace pinion;
using lines = std::vector<std::string>;
constexpr std::chrono::milliseconds at_once(0), never(std::chrono::hours(1));

const std::string first = "/job:worker/replica:0/task:0", second = "/job:worker/replica:0/task:1",
                  third = "/job:worker/replica:0/task:2";

// The tick or commit of a replica, which is ended or not.
struct asked {
  bool ended = false;
};

struct two_clocks {
  explicit two_clocks(const lines& tasks)
      : at(std::make_shared<state::clock>("clocks", static_cast<std::int64_t>(tasks.size()))) {
    for (const std::string& task : tasks)
      if (!task.empty()) at->enter(static_cast<std::int64_t>(&task - tasks.data()), task);
  }
  std::shared_ptr<asked> tick(std::int64_t replica, std::int64_t bound = 0) {
    auto c = std::make_shared<asked>();
    at->tick(replica, bound, nullptr, [c](const outcome<std::int64_t>&) { c->ended = true; });
    return c;
  }
  std::shared_ptr<state::clock> at;
};

std::string without_times(std::string text) {
  for (std::size_t i = text.find_first_of("0123456789"); i != text.npos; i = text.find_first_of("0123456789", i + 1))
    if (const auto end = text.find(" s", i); text.compare(i + 1, 1, ".") == 0 && end == i + 3) text.replace(i, 3, "T");
  return text;
}
lines told(state::clock& at, std::int64_t replica) {
  lines all;
  for (const auto& text : at.news_of(replica, at_once)) all.push_back(without_times(text));
  return all;
}

}  // namespace

TEST_CASE("a replica that waits is told for whom: those that are slower and at work, with their tasks") {
  two_clocks c({first, second, third, ""});
  c.tick(2, 1);
  const auto waits = c.tick(0);
  CHECK(!waits->ended);
  CHECK(told(*c.at, 0) ==
        lines{"has waited T s at clock 'clocks' for replica 1 (" + second +
              "), not heard of for T s; replica 3 (which has not come so far), not heard of for T s"});
  CHECK(told(*c.at, 1).empty());
}

TEST_CASE("a replica is told of a wait once it is so long, and then each time it has doubled") {
  two_clocks c({first, second});
  c.tick(0);
  CHECK(c.at->news_of(0, never).empty());
  CHECK(c.at->news_of(0, at_once).size() == 1);
  CHECK(c.at->news_of(0, never).empty());
  c.tick(1);
  CHECK(c.at->news_of(0, at_once).empty());
}

TEST_CASE("a long list of replicas is cut short") {
  two_clocks c(lines(6, first));
  c.tick(0);
  const std::string text = told(*c.at, 0).at(0);
  CHECK(text.find("replica 3 (") != text.npos);
  CHECK(text.find("replica 4 (") == text.npos);
  CHECK(text.ends_with("; and 2 more"));
}

TEST_CASE("a lost task is waited for no longer, and all that are left are told why") {
  two_clocks c({first, second, third});
  const auto waits = c.tick(0);
  c.tick(2);
  c.at->lost(second, error(errc::unavailable, "it was stopped"));
  CHECK(waits->ended);
  CHECK(c.at->live() == 2);
  const lines text{"goes on at clock 'clocks' without replica 1 (" + second + "), which is lost: it was stopped"};
  CHECK(told(*c.at, 0) == text);
  CHECK(told(*c.at, 0).empty());
  CHECK(told(*c.at, 2) == text);
  c.at->lost("/job:ps/replica:0/task:0", error(errc::unavailable, "it has no replica"));
  CHECK(c.at->live() == 2);
  CHECK(told(*c.at, 0).empty());
}

TEST_CASE("a silent replica is dropped by name, and met again when it is heard or enters") {
  two_clocks c({first, second});
  const auto waits = c.tick(0);
  c.at->expire(at_once);
  CHECK(waits->ended);
  CHECK(told(*c.at, 0) == lines{"goes on at clock 'clocks' without replica 1 (" + second + "), not heard of for T s"});
  c.tick(1, 9);
  const lines again{"meets replica 1 (" + second + ") again at clock 'clocks'"};
  CHECK(told(*c.at, 0) == again);
  c.at->lost(second, error(errc::unavailable, "it was stopped"));
  CHECK(c.at->enter(-1, second) == 1);
  CHECK(told(*c.at, 0).size() == 2);
  CHECK(told(*c.at, 1).empty());
}

TEST_CASE("a replica that leaves by itself is missed by nobody") {
  two_clocks c({first, second});
  c.at->leave(1);
  c.at->lost(second, error(errc::unavailable, "it has ended"));
  CHECK(told(*c.at, 0).empty());
}

TEST_CASE("replicas in step wait for those that have not pushed, or for the chief's update") {
  const auto at = std::make_shared<state::barrier>("steps", 2, 2);
  at->enter(0, first);
  at->enter(1, second);
  const auto commit = [&](std::int64_t replica) {
    auto c = std::make_shared<asked>();
    at->commit(replica, replica, 0, nullptr, [c](const outcome<state::commit_answer>&) { c->ended = true; });
    return c;
  };
  const auto one = commit(0);
  CHECK(without_times(at->news_of(0, at_once).at(0)) ==
        "has waited T s at barrier 'steps' for replica 1 (" + second + "), not heard of for T s");
  const auto other = commit(1);
  CHECK(without_times(at->news_of(1, at_once).at(0)) ==
        "has waited T s at barrier 'steps' for the chief, which makes the update");
  at->lost(second, error(errc::unavailable, "it was stopped"));
  CHECK(!one->ended);  // the update is still to be made
  at->advance(1, false);
  CHECK(one->ended);
}

TEST_CASE("a number that was not announced is refused") {
  two_clocks c({first, second});
  CHECK(refusal([&] { c.at->enter(2, third); }, errc::invalid_argument, "replica 2") == "");
  CHECK(refusal([&] { c.at->news_of(2, at_once); }, errc::invalid_argument, "replica 2") == "");
}
