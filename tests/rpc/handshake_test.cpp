// The handshake: who is there, whether both know the key, and what happens when one breaks it off.
#include <openssl/evp.h>
#include <catch2/catch.hpp>

#include <algorithm>

#include <pinion/base/utf8.hpp>
#include <pinion/rpc/refusals.hpp>
#include <pinion/rpc/security/security.hpp>

#include <rpc/echo.hpp>

namespace {

using namespace pinion_tests;

// A server's or a client's half of a handshake over a stream.
awaitable<void> receive_one(std::shared_ptr<listener> listening, identity me, hello& theirs) {
  const auto stream = co_await listening->accept();
  const std::function<void(const hello&)> any;
  theirs = co_await receive_hello(*stream, me, any);
}
awaitable<void> greet_one(network& net, hello mine, identity me, welcome& theirs) {
  const auto stream = co_await net.connect("b:1", never);
  theirs = co_await greet(*stream, mine, me, "b:1");
}

const std::string our_key = "the key of a cluster", other_key = "the key of another cluster";

// What a worker says to a ps.
hello said(const std::string& to = ps_name) {
  hello h;
  h.lane = lane::control;
  h.channel = 77;
  h.to = to;
  return h;
}
identity worker(const std::string& key = "", versions speaks = spoken_versions) {
  return {"/job:worker/replica:0/task:0", 9, with_key(key), speaks};
}
identity ps(const std::string& key = "", versions speaks = spoken_versions) {
  return {ps_name, 5, with_key(key), speaks};
}

struct meeting {
  sim_network world;
  std::shared_ptr<sim_network> a = world.host("a"), b = world.host("b");
  std::shared_ptr<listener> listening = b->listen("b:1");
  hello peer;
  welcome host;
  std::string at_client, at_server;

  void meet(const identity& client, const identity& task, const hello& mine = said()) {
    const auto server = start(*b, receive_one(listening, task, peer));
    const auto greeting = start(*a, greet_one(*a, mine, client, host));
    world.run_for(1s);
    at_client = greeting->text();
    at_server = server->text();
  }
};

TEST_CASE("C1: with the same key, or none, both sides know each other") {
  meeting m;
  const std::string key = GENERATE(std::string(), our_key);
  m.meet(worker(key), ps(key));
  CHECK(m.at_client == well);
  CHECK(m.at_server == well);
  CHECK(m.host.name == ps_name);
  CHECK(m.host.incarnation == 5);
  CHECK(m.peer.from == "/job:worker/replica:0/task:0");
  CHECK(m.peer.incarnation == 9);
  CHECK(m.peer.channel == 77);
}

TEST_CASE("C1: a key that differs, or is missing on one side, is unauthenticated at the client, which says how") {
  meeting wrong, missing, needless;
  wrong.meet(worker(other_key), ps(our_key));
  CHECK(wrong.at_client == "unauthenticated: " + ps_name + " at b:1 has another key than is given here");
  CHECK(wrong.at_server == "unauthenticated: the client's key is not the one that " + ps_name + " has");
  missing.meet(worker(), ps(our_key));
  CHECK(missing.at_client == "unauthenticated: " + ps_name + " at b:1 asks for a key, and none is given here");
  CHECK(missing.at_server == "unauthenticated: the client gave no proof of the key that " + ps_name + " has");
  needless.meet(worker(our_key), ps());
  CHECK(needless.at_client == "unauthenticated: " + ps_name + " at b:1 has no key, and one is given here");
}

// ---- versions

TEST_CASE("C1: the greatest version that both speak is taken") {
  CHECK(common_version({1, 3}, {2, 9}) == 3);
  CHECK(common_version({2, 2}, {2, 2}) == 2);
  CHECK(common_version({4, 7}, {1, 4}) == 4);
  CHECK_FALSE(common_version({1, 2}, {3, 4}));
  CHECK_FALSE(common_version({5, 3}, {1, 9}));
  CHECK_FALSE(common_version({0, 0}, {0, 2}));
  meeting m;
  m.meet(worker("", {1, 7}), ps("", {2, 9}));
  CHECK(m.at_client == well);
  CHECK(m.at_server == well);
}

constexpr char later = spoken_versions.greatest + 1;
const std::string no_common_version = "the client speaks versions " + std::to_string(later) + " to " +
                                      std::to_string(later + 1) + " of the protocol, and " + ps_name +
                                      " speaks version " + std::to_string(spoken_versions.greatest);

TEST_CASE("C1: without a common version both sides are told, with both ranges") {
  meeting m;
  m.meet(worker(our_key, {later, later + 1}), ps(other_key));
  const auto refused = "failed_precondition: " + no_common_version;
  CHECK(m.at_client == refused);
  CHECK(m.at_server == refused);
}

awaitable<void> say_and_hear(network& net, std::string text, std::string& heard) {
  const auto stream = co_await net.connect(ps_at, never);
  co_await write_text(*stream, text);
  co_await read_all(*stream, heard);
}
TEST_CASE("C1: the layout of the opening is fixed, so a peer of any version reads the refusal") {
  std::string heard;
  echo_world w;
  start(*w.other, say_and_hear(*w.other, opening(later, later + 1), heard));
  w.world.run_for(100ms);
  const auto length = static_cast<char>(no_common_version.size());
  CHECK(heard == opening() + std::string(2, '\0') + length + '\0' + no_common_version);
}

TEST_CASE("C1: a version of which a server speaks is not taken from it where this side does not speak it") {
  meeting m;
  const auto greeting = start(*m.a, greet_one(*m.a, said(), worker(), m.host));
  const auto liar = [](std::shared_ptr<listener> listening) -> awaitable<void> {
    const auto stream = co_await listening->accept();
    co_await write_text(*stream, opening(2, later) + static_cast<char>(later) + std::string(3, '\0'));
    std::string heard;
    co_await read_all(*stream, heard);
  };
  start(*m.b, liar(m.listening));
  m.world.run_for(1s);
  CHECK(greeting->text() == "data_loss: the server at b:1 chooses version " + std::to_string(later) +
                                " of the protocol, and this side speaks version " +
                                std::to_string(spoken_versions.greatest));
}

// ---- liars

// A client that proves with what it was given.
awaitable<void> pretend(network& net, std::string evidence, std::string& heard) {
  const auto stream = co_await net.connect("b:1", never);
  co_await open_as_client(*stream, spoken_versions, "b:1");
  auto mine = said();
  mine.nonce = nonce();
  co_await write_text(*stream, frame({.kind = frame_kind::hello}, encode(mine).control));
  co_await write_text(*stream, frame({.kind = frame_kind::hello}, encode(evidence).control));
  co_await read_all(*stream, heard);
}

TEST_CASE("C1: a client that cannot prove the key is unauthenticated at the server, and is shown no proof") {
  meeting m;
  std::string heard;
  const std::string evidence = GENERATE("", "nothing", "01234567890123456789012345678901");
  const auto server = start(*m.b, receive_one(m.listening, ps(our_key), m.peer));
  start(*m.a, pretend(*m.a, evidence, heard));
  m.world.run_for(1s);
  CHECK_THAT(server->text(), Catch::StartsWith("unauthenticated: the client"));
  CHECK_THAT(heard, Catch::Contains(evidence.empty() ? "the client gave no proof" : "the client's key is not"));
  // It heard who is there, and a refusal: two frames, the first without room for a proof beside name and nonce.
  frame_header h;
  std::memcpy(&h, heard.data(), sizeof h);
  CHECK(h.control < ps_name.size() + 8 + 1 + nonce_size + 2 * 8 + shared_key::proof_size);
}

// A server that asks for a key which it does not know.
awaitable<void> feign(std::shared_ptr<listener> listening) {
  const auto stream = co_await listening->accept();
  co_await open_as_server(*stream, spoken_versions, ps_name);
  std::string rest(300, ' ');
  co_await stream->read_some(std::as_writable_bytes(std::span(rest)));
  const welcome w{ps_name, 5, true, nonce()};
  const auto first = frame({.kind = frame_kind::hello}, encode(w).control),
             second = frame({.kind = frame_kind::hello}, encode(std::string(32, 'x')).control);
  co_await write_text(*stream, first + second);
  co_await read_all(*stream, rest);
}

TEST_CASE("C1: a server that does not prove the key it asks for is not trusted") {
  meeting m;
  const auto greeting = start(*m.a, greet_one(*m.a, said(), worker(our_key), m.host));
  start(*m.b, feign(m.listening));
  m.world.run_for(1s);
  CHECK(greeting->text() == "unauthenticated: " + ps_name + " at b:1 has not proven the key that it asks for");
}

TEST_CASE("C1: a peer that is not the expected task is refused with both names") {
  meeting m;
  m.meet(worker(), ps(), said("/job:ps/replica:0/task:1"));
  CHECK(m.at_client == "failed_precondition: at the address of /job:ps/replica:0/task:1 is " + ps_name +
                           ", as that calls itself: the cluster specs of the two differ, or one has the address of "
                           "another");
  CHECK(m.at_server == m.at_client);
}

// A server that answers whomever is called, and says honestly who it is.
awaitable<void> answer_for_all(std::shared_ptr<listener> listening) {
  const auto stream = co_await listening->accept();
  co_await open_as_server(*stream, spoken_versions, ps_name);
  std::string rest(300, ' ');
  co_await stream->read_some(std::as_writable_bytes(std::span(rest)));
  const welcome w{ps_name, 5, false, nonce()};
  const auto first = frame({.kind = frame_kind::hello}, encode(w).control),
             second = frame({.kind = frame_kind::hello}, encode(std::string()).control);
  co_await write_text(*stream, first + second);
  co_await read_all(*stream, rest);
}

TEST_CASE("C1: a server that answers in the place of another is refused by the client, too") {
  meeting m;
  const auto greeting = start(*m.a, greet_one(*m.a, said("/job:ps/replica:0/task:1"), worker(), m.host));
  start(*m.b, answer_for_all(m.listening));
  m.world.run_for(1s);
  CHECK_THAT(greeting->text(),
             Catch::StartsWith("failed_precondition: at the address of /job:ps/replica:0/task:1, b:1, is " + ps_name));
}

TEST_CASE("C4: a client without a heartbeat, or with one of more than a minute, is told and refused") {
  meeting m;
  hello mine = said();
  mine.heartbeat_ms = GENERATE(0u, 60001u, ~0u);
  m.meet(worker(), ps(), mine);
  CHECK(m.at_client == "invalid_argument: the client states a heartbeat of " + std::to_string(mine.heartbeat_ms) +
                           " ms; " + ps_name + " takes 1 ms to 60 s");
  CHECK(m.at_server == m.at_client);
}

TEST_CASE("C1: a proof is bound to all that was said before it, and to its side") {
  const shared_key key(our_key);
  struct conversation {
    agreement v{{1, 3}, {2, 4}, 3};
    hello h{lane::control, 77, "worker", 9, "ps", 1000, std::string(nonce_size, 'a')};
    welcome w{"ps", 5, true, std::string(nonce_size, 'b')};
    std::string binding = "tls";
  };
  const auto proof = [&](const conversation& c, side of = side::client) {
    return key.proof(of, rpc::detail::statement(c.v, c.h, c.w, c.binding));
  };
  const conversation as_it_was;
  const std::string mine = proof(as_it_was);
  CHECK(proof(conversation{}) == mine);
  CHECK(mine.size() == shared_key::proof_size);
  CHECK(proof(as_it_was, side::server) != mine);
  const std::function<void(conversation&)> changes[] = {
      [](auto& c) { c.v.client.greatest = 2; },  [](auto& c) { c.v.client.least = 2; },
      [](auto& c) { c.v.server.greatest = 3; },  [](auto& c) { c.v.server.least = 1; },
      [](auto& c) { c.v.chosen = 2; },           [](auto& c) { c.h.lane = lane::data; },
      [](auto& c) { c.h.channel = 78; },         [](auto& c) { c.h.from = "other"; },
      [](auto& c) { c.h.incarnation = 10; },     [](auto& c) { c.h.to = ""; },
      [](auto& c) { c.h.heartbeat_ms = 60000; }, [](auto& c) { c.h.nonce[15] = 'b'; },
      [](auto& c) { c.w.name = "sp"; },          [](auto& c) { c.w.incarnation = 6; },
      [](auto& c) { c.w.nonce[0] = 'a'; },       [](auto& c) { c.w.keyed = false; },
      [](auto& c) { c.binding = ""; },           [](auto& c) { c.h.from = "worker\0", c.h.to = "s"; }};
  for (const auto& change : changes) {
    conversation other;
    change(other);
    CHECK(proof(other) != mine);
  }
}

// OpenSSL as it is where a policy forbids what a proof is made of.
struct no_hmac {
  no_hmac() {
    nonce();  // of random numbers there are some
    EVP_set_default_properties(nullptr, "provider=nobody");
  }
  ~no_hmac() { EVP_set_default_properties(nullptr, ""); }
};

TEST_CASE("C1: where OpenSSL refuses to make a proof nobody is let in, whatever key they have") {
  meeting m;
  const identity client = worker(GENERATE(our_key, other_key, std::string())), task = ps(our_key);
  {
    const no_hmac policy;
    m.meet(client, task);
  }
  CHECK(m.at_server == "internal: OpenSSL refuses an HMAC-SHA256, so the shared key cannot be proven here");
  CHECK(m.at_client == m.at_server);
}

TEST_CASE("C1: a number used once has its size, or the handshake ends") {
  CHECK_NOTHROW(rpc::detail::check_nonce(nonce(), ps_name));
  for (const auto& bad : {std::string(), nonce() + "|" + nonce()})
    CHECK(caught([&] { rpc::detail::check_nonce(bad, ps_name); }).code() == errc::data_loss);
}

// ---- broken off

TEST_CASE("C1: a handshake that stalls is given up by the server after its five seconds") {
  std::string heard;
  echo_world w;
  const auto silent = start(*w.other, misbehave(*w.other, true, "PI", heard));
  w.world.run_for(4900ms);
  CHECK_FALSE(silent->done());
  w.world.run_for(200ms);
  CHECK(silent->text() == well);
  CHECK(w.ps->log == std::vector<std::string>{"refused other: its handshake took too long"});
}

// Connects, says so much, and reads until it is thrown out.
awaitable<void> dawdle(network& net, std::string text, std::string& heard) {
  const auto stream = co_await net.connect(ps_at, never);
  if (!text.empty()) co_await write_text(*stream, text);
  co_await read_all(*stream, heard);
}

TEST_CASE("C7: of more handshakes than a server has under way the oldest is ended, and an honest client comes in") {
  std::string heard;
  echo_world w;
  std::vector<std::shared_ptr<pinion_tests::outcome_of>> silent;
  for (int i = 0; i < 70; ++i) {
    silent.push_back(start(*w.other, dawdle(*w.other, i % 2 ? "" : opening(), heard)));
    w.world.run_for(1ms);
  }
  w.world.run_for(100ms);
  CHECK(std::count_if(silent.begin(), silent.end(), [](const auto& s) { return s->done(); }) == 30);
  CHECK(std::all_of(silent.begin(), silent.begin() + 30, [](const auto& s) { return s->done(); }));
  CHECK(w.connect(w.way()) == "");
  CHECK_THAT(w.ps->log.front(), Catch::EndsWith("refused other: its handshake was the oldest of 40 under way, and "
                                                "another client came"));
  w.world.run_for(20s);
  CHECK(std::all_of(silent.begin(), silent.end(), [](const auto& s) { return s->done(); }));
  CHECK(w.ps->log.size() == 11);
  CHECK(w.ways.back()->up());
}

// ---- the log

TEST_CASE("C1: a server's log tells who was refused and why, and of those who only leave nothing") {
  const credentials ours = with_key(our_key);
  echo_world w({}, ours);
  std::string heard;
  w.connect(w.way(with_key(other_key)));
  start(*w.other, say_and_hear(*w.other, "GET / HTTP/1.0\r\n\r\n", heard));
  w.world.run_for(100ms);
  w.connect(w.way(ours));
  w.ways.back()->close(error(errc::cancelled, "enough"));
  w.world.reset("other", "ps");
  w.world.run_for(1s);
  const std::string begin = "refused ";
  CHECK(w.ps->log ==
        std::vector<std::string>{begin + "worker: the client's key is not the one that " + ps_name + " has",
                                 begin + "other: what connects is no pinion client"});
}

TEST_CASE("C1: of many who are refused at once the log tells ten, and then how many more there were") {
  std::string heard;
  echo_world w;
  for (int i = 0; i < 40; ++i) start(*w.other, say_and_hear(*w.other, "what a stranger says\n", heard));
  w.world.run_for(9s);
  CHECK(w.ps->log.size() == 10);
  w.world.run_for(10s);
  REQUIRE(w.ps->log.size() == 11);
  CHECK(w.ps->log.back() == "refused 30 more, the last of them other: what connects is no pinion client");
}

TEST_CASE("C1: no character of what a stranger says is cut in the log") {
  std::vector<std::string> lines;
  refusals log("ps", [&](const std::string& line) { lines.push_back(line); });
  std::string long_text;
  for (int i = 0; i < 1000; ++i) long_text += "\xe2\x82\xac";
  for (const std::string lead : {"", "x", "xy"}) log.add("a:1", error(errc::data_loss, lead + long_text), time_point{});
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK(is_utf8(line));
}

TEST_CASE("C1: what a stranger says stays within its line of the log") {
  std::vector<std::string> lines;
  refusals log("ps", [&](const std::string& line) { lines.push_back(line); });
  log.add("a:1", error(errc::data_loss, "one\ntwo\x1b[31m" + std::string(5000, 'x')), time_point{});
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::StartsWith(R"(refused a:1: one\ntwo\x1b[31mxxx)") && Catch::EndsWith("x..."));
  CHECK(lines[0].size() < 600);
}

TEST_CASE("a channel outlives a cut at any time of its handshake, and a reset") {
  const int at = GENERATE(range(0, 4000, 150));  // microseconds
  const bool cut = GENERATE(true, false);
  echo_world w;
  channel& way = w.way();
  after(*w.other, std::chrono::microseconds(at),
        [&] { cut ? w.world.cut("worker", "ps") : w.world.reset("worker", "ps"); });
  after(*w.other, 2s, [&] { w.world.heal("worker", "ps"); });
  const auto why = w.connect(way, 20s);
  CHECK(why == "");
  w.world.run_for(10s);
  w.connect(way);
  const auto a = ask(way, same, "well");
  w.world.run_for(100ms);
  CHECK(a->control == "well");
}

// A server that hangs up on the control lane of its first client, and shakes hands over the data lane all the same.
awaitable<void> hang_up(std::shared_ptr<listener> listening, hello& met) {
  const identity me = ps();
  co_await receive_one(listening, me, met);
  const auto data = co_await listening->accept();
  const std::function<void(const hello&)> any;
  met = co_await receive_hello(*data, me, any);
  std::string heard;
  co_await read_all(*data, heard);
}

TEST_CASE("a channel is not up with a lane that ended as it began, and tries again") {
  echo_world w;
  w.ps->stop();
  const auto host = w.world.host("ps");
  hello met;
  const auto first = start(*host, hang_up(host->listen(ps_at), met));
  channel& way = w.way();
  int downs = 0;
  way.observe([&](const error&) { ++downs; });
  const auto early = w.connect(way, 100ms);
  CHECK(met.lane == lane::data);
  CHECK_THAT(early, Catch::StartsWith("deadline_exceeded: waited 0.1 s for " + ps_title));
  CHECK_FALSE(way.up());
  CHECK(first->done());  // neither lane is left
  w.start_ps();
  CHECK(w.connect(way) == "");
  CHECK(downs == 0);
  const auto a = ask(way, same, "well", {}, lane::control);
  w.world.run_for(100ms);
  CHECK(a->control == "well");
}

TEST_CASE("Q1: a server that is stopped or killed at any time of a handshake leaves nobody waiting") {
  const int at = GENERATE(range(0, 4000, 250));
  const bool kill = GENERATE(true, false);
  echo_world w;
  channel& way = w.way();
  after(*w.other, std::chrono::microseconds(at), [&] {
    if (kill) return w.world.kill("ps");
    w.ps->listening->stop(error(errc::unavailable, "it was stopped"));
  });
  const auto began = w.world.now();
  w.connect(way, 3s);
  CHECK(w.world.now() - began <= 3200ms);
  w.world.run_for(1s);
  CHECK_FALSE(way.up());
}

}  // namespace
