// Channels: heartbeats, loss, coming up again, and servers that stop.
#include <catch2/catch.hpp>

#include <set>

#include <rpc/echo.hpp>

namespace {

using namespace pinion_tests;

// ---- coming up

TEST_CASE("connecting is tried again until somebody listens") {
  echo_world w;
  w.ps = nullptr;
  channel& way = w.way();
  after(*w.other, 3s, [&] { w.start_ps(); });
  const auto began = w.world.now();
  CHECK(w.connect(way, 10s) == "");
  CHECK(w.world.now() - began >= 3s);
  CHECK(w.world.now() - began < 3300ms);
}

TEST_CASE("S3: connecting ends at its deadline, and says for whom it waited") {
  echo_world w;
  const bool cut = GENERATE(false, true);
  if (cut) w.world.cut("worker", "ps");
  w.ps = nullptr;
  const auto began = w.world.now();
  const auto why = w.connect(w.way(), 2s);
  CHECK_THAT(why, Catch::StartsWith("deadline_exceeded: waited 2."));
  CHECK(w.world.now() - began < 2250ms);
}

TEST_CASE("S3: a caller that joins an attempt under way has a deadline of its own") {
  echo_world w;
  w.world.cut("worker", "ps");
  channel& way = w.way();
  way.connect(w.world.now() + 30s, [](outcome<>) {});
  w.world.run_for(100ms);
  const auto began = w.world.now();
  CHECK_THAT(w.connect(way, 500ms), Catch::StartsWith("deadline_exceeded: waited "));
  CHECK(w.world.now() - began < 800ms);
}

TEST_CASE("C1: a channel with another key, or to another task, is refused at once and not tried again") {
  const auto right = with_key("the key of a cluster");
  echo_world w({}, right);
  const auto began = w.world.now();
  CHECK_THAT(w.connect(w.way(with_key("the key of another"))),
             Catch::StartsWith("unauthenticated: " + ps_title + " has another key"));
  CHECK_THAT(w.connect(w.way()), Catch::StartsWith("unauthenticated: "));
  CHECK_THAT(w.connect(w.way(right, "/job:ps/replica:0/task:1")),
             Catch::StartsWith("failed_precondition: at the address of /job:ps/replica:0/task:1 is " + ps_name));
  CHECK(w.connect(w.way(right)) == "");
  CHECK(w.connect(w.way(right, "")) == "");
  CHECK(w.ways.back()->peer() == ps_name);
  CHECK(w.world.now() - began < 1s);
}

TEST_CASE("F3: a restarted task has another incarnation, and a channel that comes up again another generation") {
  echo_world w;
  channel& way = w.connected();
  const auto first = w.ps->incarnation;
  CHECK(way.incarnation() == first);
  CHECK(way.generation() == 1);
  w.world.kill("ps");
  w.start_ps();
  w.world.run_for(1s);
  CHECK_FALSE(way.up());
  CHECK(w.connect(way) == "");
  CHECK(way.incarnation() == w.ps->incarnation);
  CHECK(way.incarnation() != first);
  CHECK(way.generation() == 2);
}

// ---- being up

TEST_CASE("C4: a peer that freezes is noticed within two heartbeats and not before one, and everybody is told once") {
  const int ms = GENERATE(range(0, 2000, 90));
  std::vector<std::string> told;
  echo_world w;
  channel& way = w.connected();
  w.world.run_for(1ms * ms);
  way.observe([&](const error& why) { told.push_back(why.sentence()); });
  const auto a = ask(way, keep, ""), b = ask(way, keep, "", {}, lane::control);
  w.world.freeze("ps");
  const auto heard = w.until([&] { return !way.up(); });
  CHECK(heard >= 1 * heartbeat - 10ms);
  CHECK(heard <= 2 * heartbeat + 10ms);
  w.world.run_for(30s);
  REQUIRE(told.size() == 1);
  CHECK(told[0] == ps_title + " has not answered for 2.0 s: it is dead, stopped or cut off");
  for (const auto& each : {a, b}) {
    CHECK(each->times == 1);
    CHECK(each->failure == "unavailable: " + told[0]);
    CHECK(each->why->task() == ps_name);
  }
}

TEST_CASE("C4: a cut is noticed within two heartbeats, whichever way it goes, and healed on demand") {
  const int kind = GENERATE(0, 1, 2);
  echo_world w;
  channel& way = w.connected();
  if (kind == 0) w.world.cut("worker", "ps");
  if (kind == 1) w.world.cut_way("worker", "ps");
  if (kind == 2) w.world.cut_way("ps", "worker");
  CHECK(w.until([&] { return !way.up(); }) <= 2 * heartbeat + 10ms);
  w.world.heal("worker", "ps");
  w.world.run_for(10s);
  CHECK_FALSE(way.up());
  CHECK(w.connect(way) == "");
  CHECK(way.incarnation() == w.ps->incarnation);
}

TEST_CASE("C4: a channel that is only idle stays up, and so does one that is busy") {
  echo_world w;
  channel& way = w.connected();
  w.world.run_for(10min);
  CHECK(way.up());
  CHECK(way.generation() == 1);
  CHECK(w.ps->gone.empty());
}

TEST_CASE("C4: a short freeze of the peer, less than a heartbeat, is outlived") {
  echo_world w;
  channel& way = w.connected();
  for (int i = 0; i < 20; ++i) {
    w.world.freeze("ps");
    w.world.run_for(900ms);
    w.world.thaw("ps");
    w.world.run_for(1ms * (37 * i));
  }
  CHECK(way.up());
}

TEST_CASE("C4: a client that was itself frozen and thawed does not drop a living peer") {
  const int ms = GENERATE(100, 600, 1100);
  const int when = GENERATE(0, 300, 700);
  echo_world w;
  channel& way = w.connected();
  w.world.run_for(1ms * when);
  w.world.freeze("worker");
  w.world.run_for(1ms * ms);
  w.world.thaw("worker");
  w.world.run_for(5s);
  CHECK(way.up());
  CHECK(way.generation() == 1);
}

TEST_CASE("C4: a client that was frozen for two heartbeats is gone for its server, hears of it, and can come again") {
  const int ms = GENERATE(2100, 5000, 90000);
  echo_world w;
  channel& way = w.connected();
  w.world.freeze("worker");
  w.world.run_for(1ms * ms);
  CHECK(w.ps->gone.size() == 1);
  w.world.thaw("worker");
  w.world.run_for(1s);
  CHECK_FALSE(way.up());
  CHECK(w.connect(way) == "");
}

TEST_CASE("C4: a server that was itself frozen and thawed does not drop its living clients") {
  echo_world w;
  auto& patient = w.ways.emplace_back(std::make_shared<channel>(
      *w.worker, ps_at, ps_name, channel_options{.me = {"", 7}, .heartbeat = 60s, .reconnect = 5s}));
  CHECK(w.connect(*patient) == "");
  w.world.run_for(8s);
  w.world.freeze("ps");
  w.world.run_for(20s);
  w.world.thaw("ps");
  w.world.run_for(1s);
  CHECK(w.ps->gone.empty());
}

TEST_CASE("F4: a client whose host vanishes is gone for its server within two of the client's heartbeats, once") {
  const duration beat = GENERATE(as<duration>(), 200ms, 1s, 20s, 60s);
  echo_world w;
  REQUIRE(w.connect(w.way({}, ps_name, nullptr, beat)) == "");
  w.world.run_for(200s);
  CHECK(w.ps->gone.empty());
  w.world.cut("worker", "ps");
  w.world.run_for(beat - 10ms);
  CHECK(w.ps->gone.empty());
  w.world.run_for(beat + 20ms);
  CHECK(w.ps->gone == std::vector<std::string>{"the client has been silent for two heartbeats"});
  w.world.run_for(200s);
  CHECK(w.ps->gone.size() == 1);
}

TEST_CASE("F4: a client with a short heartbeat is noticed though one with a long one came before it, and after it") {
  echo_world w;
  const std::pair<sim_network*, duration> clients[] = {
      {w.other.get(), 50s}, {w.worker.get(), 300ms}, {w.other.get(), 40s}};
  for (const auto& [from, beat] : clients) REQUIRE(w.connect(w.way({}, ps_name, from, beat)) == "");
  w.world.run_for(10s);
  w.world.cut("worker", "ps");
  w.world.run_for(620ms);
  CHECK(w.ps->gone.size() == 1);
  w.world.run_for(200s);
  CHECK(w.ps->gone.size() == 1);
}

TEST_CASE("C4: when one lane breaks so does the channel, at both ends, and it can come up again") {
  echo_world w;
  channel& way = w.connected();
  w.world.reset("worker", "ps");
  w.world.run_for(1s);
  CHECK_FALSE(way.up());
  CHECK(w.ps->gone.size() == 1);
  CHECK(w.connect(way) == "");
  w.world.run_for(10s);
  CHECK(way.up());
}

TEST_CASE("an observer that was forgotten is not told, and one that stays is told each time") {
  int stays = 0, goes = 0;
  echo_world w;
  channel& way = w.connected();
  way.observe([&](const error&) { ++stays; });
  way.forget(way.observe([&](const error&) { ++goes; }));
  for (int i = 0; i < 3; ++i) {
    w.world.reset("worker", "ps");
    w.world.run_for(1s);
    w.connect(way);
  }
  CHECK(stays == 3);
  CHECK(goes == 0);
}

TEST_CASE("what observers and answers do may use the channel again") {
  bool again = false;
  std::shared_ptr<answer> failed_at_once;
  echo_world w;
  channel& way = w.connected();
  way.observe([&](const error&) {
    failed_at_once = ask(way, same, "");
    way.connect({}, [&](outcome<> connected) { again = connected.ok(); });
  });
  w.world.reset("worker", "ps");
  w.world.run_for(1s);
  CHECK(again);
  CHECK(failed_at_once->times == 1);
  CHECK(way.generation() == 2);
}

// ---- ending

TEST_CASE("Q3: a server that stops fails what it has begun with unavailable and its name, and frees its port") {
  std::set<std::string> sentences;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim_options how;
    how.seed = seed;
    how.write_now_percent = 100;
    echo_world w(how);
    channel& way = w.connected();
    const auto a = ask(way, keep, ""), b = ask(way, late, "", {}, lane::control);
    w.world.run_for(100ms);
    w.ps->stop();
    w.world.run_for(100ms);
    for (const auto& each : {a, b}) {
      REQUIRE(each->times == 1);
      CHECK(each->why->code() == errc::unavailable);
      CHECK(each->why->task() == ps_name);
    }
    CHECK_FALSE(way.up());
    sentences.insert(a->why->sentence());
    CHECK(w.ps->begun == 2);
    w.world.host("ps")->listen(ps_at);
  }
  CHECK(sentences.count(ps_name + " was stopped") == 1);  // the goodbye, where it goes through
}

TEST_CASE("a channel that is closed fails what is under way, connects no more, and its server hears of it") {
  echo_world w;
  channel& way = w.connected();
  const auto a = ask(way, keep, "");
  way.close(error(errc::cancelled, "enough"));
  CHECK(w.connect(way) == "cancelled: the route to " + ps_title + " is closed");
  CHECK(a->times == 1);
  CHECK(a->failure == "cancelled: lost " + ps_title + ": enough");
  w.world.run_for(1s);
  CHECK(w.ps->gone.size() == 1);
}

TEST_CASE("a channel that is closed while it connects says so to all who wait") {
  const int us = GENERATE(range(0, 5000, 300));
  echo_world w;
  channel& way = w.way();
  after(*w.other, std::chrono::microseconds(us), [&] { way.close(error(errc::cancelled, "enough")); });
  const auto why = w.connect(way);
  CHECK((why == "" || why.rfind("cancelled: ", 0) == 0));
  w.world.run_for(10s);
  CHECK_FALSE(way.up());
}

TEST_CASE("a server may be stopped by what it serves, and twice") {
  echo_world w;
  channel& way = w.connected();
  const auto a = ask(way, keep, "");
  after(*w.other, 50ms, [&] {
    w.ps->listening->stop(error(errc::unavailable, "first"));
    w.ps->listening->stop(error(errc::unavailable, "second"));
  });
  w.world.run_for(1s);
  CHECK(a->times == 1);
}

// ---- everything at once

TEST_CASE("Q1: whatever happens to a server and its clients, each request is answered once, and rightly") {
  const std::uint64_t seed = GENERATE(range(1u, 41u));
  sim_options how;
  how.seed = seed;
  how.write_now_percent = seed % 3 * 40;
  how.max_chunk = 500;
  echo_world w(how);
  dice below(seed);
  channel &one = w.connected(), &two = w.connected(w.other.get());
  std::vector<std::shared_ptr<answer>> answers;
  const std::function<void()> faults[] = {
      [&] { w.world.cut("worker", "ps"); },   [&] { w.world.cut_way("ps", "other"); },
      [&] { w.world.reset("worker", "ps"); }, [&] { w.world.freeze("ps"); },
      [&] { w.world.freeze("worker"); },      [&] { w.world.kill("ps"), w.start_ps(); },
      [&] { w.ps->stop(), w.start_ps(); },    [&] { w.world.heal("worker", "ps"); },
      [&] { w.world.heal("other", "ps"); },   [&] { w.world.thaw("ps"); },
      [&] { w.world.thaw("worker"); }};
  for (std::size_t i = 0; i < 120; ++i) {
    if (below(3) == 0) faults[below(std::size(faults))]();
    for (channel* way : {&one, &two}) {
      if (below(4) == 0) way->connect(w.world.now() + 1s, [](outcome<>) {});
      answers.push_back(ask(*way, below(2) ? same : late, std::to_string(answers.size()), pattern(below(9000))));
    }
    w.world.run_for(std::chrono::milliseconds(below(200)));
  }
  for (const char* host : {"worker", "other"}) w.world.thaw(host), w.world.heal(host, "ps");
  w.world.thaw("ps");
  w.world.run_for(60s);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CHECK(answers[i]->times == 1);
    CHECK((answers[i]->control == std::to_string(i) || answers[i]->why));
  }
}

}  // namespace
