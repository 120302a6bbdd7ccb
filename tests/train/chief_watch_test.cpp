// When a chief counts as lost, to the millisecond; and how long others wait.
#include <catch2/catch.hpp>

#include <pinion/train.hpp>
#include <pinion/train/session/backoff.hpp>

namespace {

namespace tr = pinion::train;
using namespace std::chrono_literals;
using change = tr::chief_watch::change;

const std::string its_name = "/job:worker/replica:0/task:0";

// A chief that gives a sign twice in a heartbeat of a second, and a worker that looks four times.
struct watched {
  tr::chief_watch watch{1000ms};
  tr::chief_watch::time now{};
  std::int64_t beat = 0;

  change look(std::int64_t at) { return watch.see(tr::chief_note{7, at, its_name}, now += 250ms); }
  // Signs of life for so long; what is seen at last.
  change live(int looks) {
    change last = change::none;
    for (int i = 0; i < looks; ++i) last = look(beat += i % 2);
    return last;
  }
  // How long it takes, after the chief died, until something changes.
  std::chrono::milliseconds until(change wanted) {
    const auto died = now;
    for (int i = 0; i < 100; ++i)
      if (look(beat) == wanted) return std::chrono::duration_cast<std::chrono::milliseconds>(now - died);
    return -1ms;
  }
};

}  // namespace

TEST_CASE("a chief that dies is lost within two heartbeats, and one that gives signs of life is not") {
  watched w;
  CHECK(w.live(40) == change::none);
  CHECK_FALSE(w.watch.is_lost());
  const auto took = w.until(change::lost);
  CHECK(took > 1000ms);
  CHECK(took + 250ms <= 2000ms);  // it may have died just behind a sign, and a look may come just before
  CHECK(w.watch.is_lost());
  CHECK(w.watch.name() == its_name);
  CHECK(w.until(change::lost) == -1ms);  // said once
}

TEST_CASE("a lost chief that gives a sign is back, and one that another took the place of, too") {
  for (const std::int64_t sign : {100, -7}) {
    watched w;
    w.live(4);
    w.until(change::lost);
    CHECK(w.look(sign) == change::back);
    CHECK_FALSE(w.watch.is_lost());
    CHECK(w.watch.silence(w.now) > 1500ms);
  }
}

TEST_CASE("a chief that has ended is not lost, nor one that could not be looked at or has not come yet") {
  watched ended;
  ended.live(4);
  CHECK(ended.look(tr::chief_note::ended) == change::none);
  ended.beat = tr::chief_note::ended;
  CHECK(ended.until(change::lost) == -1ms);
  watched unseen;
  unseen.live(4);
  for (int i = 0; i < 40; ++i) unseen.watch.could_not_look(unseen.now += 250ms);
  CHECK(unseen.look(unseen.beat) == change::none);
  watched early;
  for (int i = 0; i < 40; ++i) CHECK(early.watch.see(std::nullopt, early.now += 250ms) == change::none);
}

TEST_CASE("a chief has ended for those who still look two heartbeats after it said so, unless it begins again") {
  watched w;
  w.live(4);
  w.beat = tr::chief_note::ended;
  CHECK(w.look(w.beat) == change::none);
  for (int i = 0; i < 8; ++i) w.watch.could_not_look(w.now);
  CHECK(w.until(change::ended) == 2250ms);
  CHECK(w.until(change::ended) == -1ms);  // said once
  CHECK_FALSE(w.watch.is_lost());
  CHECK(w.look(5) == change::none);
  CHECK(w.look(tr::chief_note::ended) == change::none);
  CHECK(w.until(change::ended) == 2250ms);
}

TEST_CASE("a wait for something else begins with quick attempts again") {
  std::vector<std::chrono::milliseconds> pauses;
  tr::backoff waits(
      1h, [](const std::string&) {}, [&](std::chrono::milliseconds pause) { pauses.push_back(pause); });
  for (int i = 0; i < 6; ++i) waits.pause("tasks");
  CHECK(pauses.back() == 1s);
  waits.begin_anew();
  waits.pause("the chief");
  CHECK(pauses.back() == 50ms);
}

TEST_CASE("a wait is told of within two seconds, then every ten or so, and ends at its limit") {
  std::vector<std::string> said;
  tr::backoff::clock::time_point now{};
  tr::backoff waits(
      30s, [&](const std::string& line) { said.push_back(line); },
      [&](std::chrono::milliseconds pause) { now += pause; }, [&] { return now; });
  while (!waits.is_over()) waits.pause("nobody");
  CHECK(said == std::vector<std::string>{"has waited 1 s, of 30 s at most, for nobody",
                                         "has waited 12 s, of 30 s at most, for nobody",
                                         "has waited 23 s, of 30 s at most, for nobody"});
  CHECK(waits.waited() == 29s);
}
