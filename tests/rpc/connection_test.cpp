// Connections: many requests at once, large payloads, and peers that break the rules.
#include <catch2/catch.hpp>

#include <pinion/rpc/failure.hpp>

#include <rpc/echo.hpp>

namespace {

using namespace pinion_tests;

sim_options weather(std::uint64_t seed) {
  sim_options how;
  how.seed = seed;
  how.write_now_percent = seed % 2 == 0 ? 60 : 0;
  how.max_chunk = seed % 3 == 0 ? 100 : 16 << 10;
  return how;
}
sim_options slow() {
  sim_options how;
  how.bytes_per_second = 10 << 20;
  return how;
}

// ---- requests

TEST_CASE("C3, Q1: many requests in flight are answered once each, to the right callers, whatever the weather") {
  const std::uint64_t seed = GENERATE(range(1u, 13u));
  echo_world w(weather(seed));
  channel& way = w.connected();
  std::vector<std::shared_ptr<answer>> answers;
  for (std::size_t i = 0; i < 200; ++i)
    answers.push_back(ask(way, same, std::to_string(i), pattern(i * 37 % 1000, i), i % 3 ? lane::data : lane::control));
  w.world.run_for(1s);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CHECK(answers[i]->times == 1);
    CHECK(answers[i]->control == std::to_string(i));
    CHECK(answers[i]->payload == pattern(i * 37 % 1000, i));
  }
}

TEST_CASE("C3: large payloads arrive whole, through a small buffer, beside small requests on the other lane") {
  auto how = weather(GENERATE(1u, 2u));
  how.bytes_per_second = 20 << 20;
  how.buffer = 64 << 10;
  echo_world w(how);
  channel& way = w.connected();
  const auto large = ask(way, same, "large", pattern(1 << 20)),
             second = ask(way, same, "second", pattern(300 << 10, 5));
  const auto small = ask(way, same, "small", {}, lane::control);
  w.world.run_for(10ms);
  CHECK(small->times == 1);
  CHECK(large->times == 0);
  w.world.run_for(10s);
  CHECK(large->payload == pattern(1 << 20));
  CHECK(second->payload == pattern(300 << 10, 5));
}

TEST_CASE("Q2: a failure is the same error on both sides") {
  echo_world w;
  const auto a = ask(w.connected(), refuse, "");
  w.world.run_for(1s);
  REQUIRE(a->times == 1);
  CHECK(a->why->code() == refusal().code());
  CHECK(a->why->what() == std::string(refusal().what()));
  CHECK(a->why->task() == ps_name);
  CHECK(a->why->location() == "model.cpp:7");
}

TEST_CASE("Q2: a message that is more than a peer takes fails alone, asked or answered, and others go on") {
  echo_world w;
  channel& way = w.connected();
  const bool asked = GENERATE(true, false);
  const auto large = asked ? ask(way, same, too_much()) : ask(way, swell, "");
  const auto small = ask(way, same, "small");
  w.world.run_for(1s);
  CHECK(large->times == 1);
  CHECK_THAT(large->failure, Catch::StartsWith("resource_exhausted: a message of 268435457 bytes of control is more "
                                               "than the 268435456 that a task takes at once"));
  CHECK(small->control == "small");
  CHECK(way.up());
}

TEST_CASE("Q1: a responder that is dropped without an answer answers so") {
  echo_world w;
  const auto a = ask(w.connected(), drop, "");
  w.world.run_for(1s);
  CHECK(a->times == 1);
  CHECK(a->failure == "internal: the request was dropped without an answer");
}

TEST_CASE("C2: a request that cannot be read closes its connection, and is not answered as one that was dropped") {
  echo_world w;
  const auto a = ask(w.connected(), GENERATE(balk, sour), "", "payload");
  w.world.run_for(1s);
  CHECK(a->times == 1);
  CHECK_THAT(a->failure, Catch::Contains("lost " + ps_title));
  CHECK(w.ps->gone == std::vector<std::string>{"it cannot be read"});
}

TEST_CASE("Q1: an answer whose payload is found wrong fails its request once, with the reason") {
  echo_world w;
  int delivered = 0;
  std::vector<std::string> failures;
  w.connected().request(
      lane::data, same, mail("", "payload"),
      {.open = [&](const envelope& e) { return std::make_unique<sour_letter>(e, [&](auto&&...) { ++delivered; }); },
       .failed = [&](const error& why) { failures.push_back(why.sentence()); }});
  w.world.run_for(1s);
  CHECK(delivered == 0);
  CHECK(failures == std::vector<std::string>{"lost " + ps_title + ": it cannot be read"});
}

TEST_CASE(
    "Q1: a lost connection fails each request under way once, in the order of asking, and no later answer counts") {
  echo_world w;
  channel& way = w.connected();
  std::vector<std::shared_ptr<answer>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(ask(way, i % 2 ? keep : late, std::to_string(i)));
  w.world.run_for(500ms);
  w.world.reset("worker", "ps");
  w.world.run_for(5s);
  for (const auto& a : answers) {
    CHECK(a->times == 1);
    CHECK_THAT(a->failure, Catch::StartsWith("unavailable: lost " + ps_title));
    CHECK(a->why->task() == ps_name);
  }
  w.ps->kept.clear();  // answers to nobody
  w.world.run_for(1s);
}

TEST_CASE("Q1: a request whose reply is cut off in the middle of its payload fails, at any time") {
  const int ms = GENERATE(range(1, 300, 13));
  echo_world w(slow());
  const auto a = ask(w.connected(), same, "large", pattern(1 << 20));
  w.world.run_for(1ms * ms);
  w.world.reset("worker", "ps");
  w.world.run_for(5s);
  CHECK(a->times == 1);
  CHECK((a->payload == pattern(1 << 20) || a->failure.rfind("unavailable: lost " + ps_title, 0) == 0));
}

TEST_CASE("Q1: a request on a way that is down fails at once and says why") {
  echo_world w;
  channel& way = w.way();
  CHECK(ask(way, same, "")->failure == "unavailable: there is no connection with " + ps_title);
  w.connect(way);
  w.world.reset("worker", "ps");
  w.world.run_for(1s);
  CHECK_THAT(ask(way, same, "")->failure, Catch::StartsWith("unavailable: lost " + ps_title));
  CHECK(w.ps->begun == 0);
}

// ---- what cannot be read

struct wrong {
  const char* what;
  std::string text;
  std::string reason;
};
const std::vector<wrong> wrongs{
    {"garbage", pattern(5000), "it does not begin with PN"},
    {"a wrong magic", frame({.magic = 0x4e51, .kind = frame_kind::request}), "it does not begin with PN"},
    {"an unknown kind", frame({.kind = frame_kind(17)}), "unknown kind 17"},
    {"a control part beyond the limit", frame({.kind = frame_kind::request, .control = std::uint64_t{1} << 60}),
     "bytes of control"},
    {"a payload beyond the limit", frame({.kind = frame_kind::request, .payload = std::uint64_t{1} << 60}),
     "bytes of payload"},
    {"a second handshake", frame({.kind = frame_kind::hello}), "second handshake"},
    {"a goodbye that says nothing", frame({.kind = frame_kind::goodbye}), ""},
    {"a goodbye of garbage", frame({.kind = frame_kind::goodbye}, pattern(100)), ""},
};

TEST_CASE("C2: what cannot be read closes its connection, and disturbs no other client of the server") {
  const auto& wrong = wrongs[GENERATE(range(std::size_t{0}, std::size_t{8}))];
  INFO(wrong.what);
  std::string heard;
  echo_world w(weather(2));
  channel& way = w.connected();
  const auto under_way = ask(way, late, "well");
  const auto rude = start(*w.other, misbehave(*w.other, false, wrong.text, heard));
  w.world.run_for(100ms);
  CHECK(rude->text() == well);
  REQUIRE(w.ps->gone.size() == 1);
  CHECK_THAT(w.ps->gone[0], Catch::Contains(wrong.reason));
  w.world.run_for(2s);
  CHECK(under_way->control == "well");
}

TEST_CASE("C2: half a message that never goes on is dropped with its client, after two heartbeats of silence") {
  std::string heard;
  echo_world w;
  const auto text = frame({.kind = frame_kind::request, .method = same, .control = 100}, "beginning");
  const auto rude = start(*w.other, misbehave(*w.other, false, text, heard));
  w.world.run_for(2 * hello{}.heartbeat() - 100ms);
  CHECK_FALSE(rude->done());
  w.world.run_for(200ms);
  CHECK(rude->done());
  CHECK(w.ps->gone == std::vector<std::string>{"the client has been silent for two heartbeats"});
}

TEST_CASE("C1, C2: garbage before the handshake closes its connection, and disturbs no other") {
  const auto& text = GENERATE(as<std::string>(), pattern(5000), "GET / HTTP/1.0\r\n\r\nabcdefghijklmnopqrstuvwxyz",
                              frame({.kind = frame_kind::request, .method = same}),
                              frame({.kind = frame_kind::hello, .control = std::uint64_t{1} << 40}),
                              frame({.kind = frame_kind::hello}, pattern(300)), frame({.kind = frame_kind::hello}),
                              frame({.kind = frame_kind::failure}, pattern(30)));
  const bool opened = GENERATE(false, true);
  std::string heard;
  echo_world w;
  channel& way = w.connected();
  const auto rude = start(*w.other, misbehave(*w.other, true, (opened ? opening() : "") + text, heard));
  w.world.run_for(100ms);
  CHECK(rude->text() == well);
  CHECK(w.ps->log.size() == 1);
  CHECK(w.ps->begun == 0);
  const auto a = ask(way, same, "well");
  w.world.run_for(100ms);
  CHECK(a->control == "well");
}

// ---- servers that cannot be read

TEST_CASE("C2, Q1: an answer that cannot be read fails its request once, and closes the connection") {
  const auto& text =
      GENERATE(as<std::string>(), pattern(100), frame({.kind = frame_kind::failure, .id = 1}, "x"),
               frame({.kind = frame_kind::failure, .id = 1}, pattern(200)),
               frame({.kind = frame_kind::request, .id = 1}), frame({.kind = frame_kind::notice, .id = 1}),
               frame({.kind = frame_kind::reply, .id = 1, .payload = std::uint64_t{1} << 60}));
  echo_world w;
  w.ps->stop();
  const auto host = w.world.host("ps");
  const auto liar = start(*host, lie(host, host->listen(ps_at), {text}));
  channel& way = w.connected();
  const auto a = ask(way, keep, "");
  w.world.run_for(1s);
  CHECK(a->times == 1);
  CHECK_THAT(a->failure, Catch::Contains("lost " + ps_title) || Catch::StartsWith("data_loss"));
  CHECK_FALSE(way.up());
}

TEST_CASE("Q1: an answer to nobody is skipped, with its payload") {
  const auto stray = frame({.kind = frame_kind::reply, .id = 99}, "who?", pattern(100000)) +
                     frame({.kind = frame_kind::failure, .id = 98}, encode_failure(refusal()).control) +
                     frame({.kind = frame_kind::reply, .id = 2}, "well", pattern(10));  // 1 was a heartbeat
  echo_world w;
  w.ps->stop();
  const auto host = w.world.host("ps");
  const auto liar = start(*host, lie(host, host->listen(ps_at), {stray}));
  const auto a = ask(w.connected(), keep, "");
  w.world.run_for(1s);
  CHECK(a->control == "well");
  CHECK(a->payload == pattern(10));
}

}  // namespace
