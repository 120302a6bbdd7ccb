// The simulated network: streams, faults, virtual time, and that the same seed gives the same run.
#include <pinion/netsim/sim_network.hpp>

#include <catch2/catch.hpp>

#include <set>

#include <rpc/coroutines.hpp>

namespace {

using namespace pinion_tests;
using namespace std::chrono_literals;
using stream_ptr = std::unique_ptr<byte_stream>;

sim_options options(std::uint64_t seed = 1) {
  sim_options result;
  result.seed = seed;
  result.keep_log = true;
  return result;
}

sim_options in_pieces(std::uint64_t seed = 1) {
  auto result = options(seed);
  result.max_chunk = 7;
  return result;
}

// ---- coroutines

awaitable<void> write_text(byte_stream& to, std::string text) {
  const asio::const_buffer part = asio::buffer(text);
  co_await to.write({&part, 1});
}

// Reads that many bytes, or up to the peer's close.
awaitable<void> read_text(byte_stream& from, std::size_t size, std::string& text) {
  std::byte room[64];
  while (text.size() < size) {
    const std::size_t n = co_await from.read_some({room, std::min(sizeof room, size - text.size())});
    if (n == 0) co_return;
    text.append(reinterpret_cast<const char*>(room), n);
  }
}

awaitable<void> accept_into(listener& from, stream_ptr& to) {
  to = co_await from.accept();
}
awaitable<void> connect_into(network& net, std::string address, time_point deadline, stream_ptr& to) {
  to = co_await net.connect(address, deadline);
}

// Until the peer closes.
awaitable<void> echo(stream_ptr stream) {
  std::byte room[100];
  while (true) {
    const std::size_t n = co_await stream->read_some(room);
    if (n == 0) co_return;
    const asio::const_buffer part(room, n);
    co_await stream->write({&part, 1});
  }
}

awaitable<void> serve(std::shared_ptr<network> net, std::shared_ptr<listener> from) {
  while (true) {
    auto stream = co_await from->accept();
    start(*net, echo(std::move(stream)));
  }
}

awaitable<void> ask(network& net, std::string address, std::string question, std::string& answer) {
  const auto stream = co_await net.connect(address, time_point::max());
  co_await write_text(*stream, question);
  co_await read_text(*stream, question.size(), answer);
  stream->close();
}

std::string letters(std::size_t size) {
  std::string result(size, ' ');
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<char>('a' + i * i % 23);
  return result;
}

// ---- a world with two hosts and a stream between them

struct pair_of_hosts {
  sim_network world;
  std::shared_ptr<sim_network> a, b;
  std::unique_ptr<listener> listening;
  stream_ptr here, there;  // a's end and b's

  explicit pair_of_hosts(const sim_options& how = options()) : world(how), a(world.host("a")), b(world.host("b")) {
    listening = b->listen("b:1");
    const auto accepted = start(world, accept_into(*listening, there));
    run(world, connect_into(*a, "b:1", never, here));
    run(world, join(accepted));
  }
  awaitable<void> join(std::shared_ptr<pinion_tests::outcome_of> other) {
    while (!other->done()) co_await sleep_until(world, world.now() + 1ms);
  }
  bool passes(const std::string& text = "hello") {
    std::string got;
    const auto reading = start(world, read_text(*there, text.size(), got));
    const auto writing = start(world, write_text(*here, text));
    world.run_for(100ms);
    return reading->text() == well && writing->text() == well && got == text;
  }
};

// ---- streams

TEST_CASE("what is sent over the simulated network comes back from an echo, in order, whatever the chunks") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  sim_network world(in_pieces(seed));
  const auto ps = world.host("ps0");
  start(*ps, serve(ps, ps->listen("ps0:2222")));
  std::string answer, other;
  const auto question = letters(5000);
  const auto second = start(world, ask(world, "ps0:2222", "short", other));
  run(world, ask(world, "ps0:2222", question, answer));
  CHECK(answer == question);
  CHECK(second->text() == well);
  CHECK(other == "short");
}

TEST_CASE("a read yields at most what came in one piece") {
  pair_of_hosts hosts(in_pieces());
  start(hosts.world, write_text(*hosts.here, letters(200)));
  hosts.world.run_for(1s);
  std::set<std::size_t> sizes;
  std::byte room[64];
  std::size_t n = 0;
  const auto read = [&]() -> awaitable<void> { n = co_await hosts.there->read_some(room); };
  for (std::size_t left = 200; left > 0; left -= n) {
    run(hosts.world, read());
    sizes.insert(n);
  }
  CHECK(sizes.size() > 3);
  CHECK(*sizes.begin() >= 1);
  CHECK(*sizes.rbegin() <= 7);
}

TEST_CASE("a stream ends with 0 after all that was sent before the close") {
  pair_of_hosts hosts(in_pieces());
  start(hosts.world, write_text(*hosts.here, letters(300)));
  hosts.world.run_for(0s);
  hosts.here = nullptr;
  std::string got;
  run(hosts.world, read_text(*hosts.there, 1000, got));
  CHECK(got == letters(300));
  run(hosts.world, read_text(*hosts.there, 1000, got));
  CHECK(got == letters(300));
}

TEST_CASE("writing to a peer that closed breaks the stream") {
  pair_of_hosts hosts;
  hosts.there->close();
  hosts.world.run_for(1s);
  CHECK(start(hosts.world, write_text(*hosts.here, "into the void"))->text() == "not done");
  hosts.world.run_for(1s);
  CHECK(failure([&] { run(hosts.world, write_text(*hosts.here, "again")); }) ==
        "unavailable: the stream a-b:1#1 broke: the peer is gone");
}

TEST_CASE("closing fails the operations under way with unavailable") {
  pair_of_hosts hosts;
  std::string got;
  const auto reading = start(hosts.world, read_text(*hosts.here, 1, got));
  const auto writing = start(hosts.world, write_text(*hosts.here, letters(1 << 20)));
  hosts.world.run_for(1s);
  CHECK_FALSE(reading->done());
  CHECK_FALSE(writing->done());
  SECTION("by close()") {
    hosts.here->close();
  }
  SECTION("by the end of the stream object") {
    hosts.here = nullptr;
  }
  hosts.world.run_for(0s);
  CHECK(reading->text() == "unavailable: the stream a-b:1#1 broke: it was closed here");
  CHECK(writing->text() == "unavailable: the stream a-b:1#1 broke: it was closed here");
}

TEST_CASE("a writer of much data waits until the reader reads") {
  auto how = options();
  how.buffer = 1000;
  pair_of_hosts hosts(how);
  const auto writing = start(hosts.world, write_text(*hosts.here, letters(2500)));
  std::string got;
  hosts.world.run_for(10s);
  CHECK_FALSE(writing->done());
  run(hosts.world, read_text(*hosts.there, 1400, got));
  hosts.world.run_for(10s);
  CHECK_FALSE(writing->done());
  run(hosts.world, read_text(*hosts.there, 1500, got));
  hosts.world.run_for(0s);
  CHECK(writing->text() == well);
  run(hosts.world, read_text(*hosts.there, 2500, got));
  CHECK(got == letters(2500));
}

TEST_CASE("a slow line takes its time") {
  auto how = options();
  how.bytes_per_second = 1000;
  pair_of_hosts hosts(how);
  const auto begun = hosts.world.now();
  std::string got;
  start(hosts.world, write_text(*hosts.here, letters(3000)));
  run(hosts.world, read_text(*hosts.there, 3000, got));
  CHECK(hosts.world.now() - begun >= 2999ms);
  CHECK(hosts.world.now() - begun < 3100ms);
}

TEST_CASE("write_now takes nothing, or a part where that is asked for") {
  const auto text = letters(100);
  const asio::const_buffer parts[] = {asio::buffer(text.data(), 40), asio::buffer(text.data() + 40, 60)};
  pair_of_hosts timid;
  CHECK(timid.here->write_now(parts) == 0);
  auto how = options();
  how.write_now_percent = 100;
  pair_of_hosts hosts(how);
  std::string sent, got;
  for (int i = 0; i < 20; ++i) sent += text.substr(0, hosts.here->write_now(parts));
  CHECK(sent.size() > 100);
  CHECK(sent.size() < 2000);
  run(hosts.world, read_text(*hosts.there, sent.size(), got));
  CHECK(got == sent);
}

// ---- connecting

TEST_CASE("connecting to an address on which nobody listens is refused, after a while") {
  sim_network world(options());
  stream_ptr stream;
  const auto begun = world.now();
  CHECK(failure([&] { run(world, connect_into(world, "ps0:2222", never, stream)); }) ==
        "unavailable: nobody listens on ps0:2222");
  CHECK(world.now() > begun);
  CHECK(world.now() < begun + 1s);
  CHECK(failure([&] { run(world, connect_into(world, "ps0", never, stream)); }) ==
        "invalid_argument: the address 'ps0' is not of the form host:port, with a port from 0 to 65535");
}

TEST_CASE("a host listens on its own addresses, each once") {
  sim_network world(options());
  const auto ps = world.host("ps0");
  const auto first = ps->listen("ps0:49152");
  CHECK(first->address() == "ps0:49152");
  CHECK(ps->listen("ps0:0")->address() == "ps0:49153");
  CHECK(failure([&] { ps->listen("ps0:49152"); }) == "already_exists: the address ps0:49152 is taken");
  CHECK(failure([&] { ps->listen("ps1:1"); }) == "invalid_argument: host ps0 cannot listen on ps1:1");
  CHECK(failure([&] { ps->listen("ps0:x"); }) ==
        "invalid_argument: the address 'ps0:x' is not of the form host:port, with a port from 0 to 65535");
  CHECK(failure([&] { ps->listen("ps0:65536"); }) ==
        "invalid_argument: the address 'ps0:65536' is not of the form host:port, with a port from 0 to 65535");
  first->close();
  CHECK(ps->listen("ps0:49152")->address() == "ps0:49152");
}

TEST_CASE("a closed listener's accept is cancelled, pending or later, and its unaccepted streams end") {
  sim_network world(options());
  const auto ps = world.host("ps0");
  const auto listening = ps->listen("ps0:1");
  stream_ptr stream, unaccepted;
  std::string got;
  SECTION("pending") {
    const auto pending = start(world, accept_into(*listening, stream));
    world.run_for(1s);
    CHECK_FALSE(pending->done());
    listening->close();
    world.run_for(0s);
    CHECK(pending->text() == "cancelled: the listener on ps0:1 was closed");
  }
  SECTION("later") {
    run(world, connect_into(world, "ps0:1", never, unaccepted));
    listening->close();
    CHECK(failure([&] { run(world, accept_into(*listening, stream)); }) ==
          "cancelled: the listener on ps0:1 was closed");
    run(world, read_text(*unaccepted, 1, got));
    CHECK(got == "");
  }
}

TEST_CASE("a simulated network tells the time of its next event, skips to one before it, and none is left in the end") {
  sim_network world(options());
  CHECK(world.next_event() == std::nullopt);
  after(world, 5s, [] {});
  after(world, 3s, [] {});
  CHECK(world.next_event() == world.now());  // the coroutines can begin
  world.run_for(0s);
  CHECK(world.next_event() == world.now() + 3s);
  world.skip_to(world.now() + 2s);
  CHECK(world.next_event() == world.now() + 1s);
  world.run_for(2s);
  CHECK(world.next_event() == world.now() + 1s);
  world.run_until_idle();
  CHECK(world.next_event() == std::nullopt);
}

// ---- faults

TEST_CASE("over a cut nothing arrives and nobody is told; after heal it does") {
  pair_of_hosts hosts(in_pieces());
  std::string there, here;
  const auto reading = start(hosts.world, read_text(*hosts.there, 100, there));
  const auto answering = start(hosts.world, read_text(*hosts.here, 5, here));
  const auto first = start(hosts.world, write_text(*hosts.here, letters(100).substr(0, 50)));
  hosts.world.run_for(300us);  // a part is on the way
  hosts.world.cut("a", "b");
  const std::size_t before = there.size();
  const auto second = start(hosts.world, write_text(*hosts.here, letters(100).substr(50)));
  const auto answer = start(hosts.world, write_text(*hosts.there, "hello"));
  hosts.world.run_for(600s);
  CHECK(there.size() == before);
  CHECK(first->text() == well);
  CHECK(second->text() == well);
  CHECK_FALSE(reading->done());
  CHECK_FALSE(answering->done());
  hosts.world.heal("a", "b");
  hosts.world.run_for(1s);
  CHECK(there == letters(100));
  CHECK(here == "hello");
  CHECK(answer->text() == well);
}

TEST_CASE("what was sent before a cut and the close that followed still arrive") {
  pair_of_hosts hosts;
  hosts.world.cut("a", "b");
  start(hosts.world, write_text(*hosts.here, "the end"));
  hosts.world.run_for(1s);
  hosts.here = nullptr;
  hosts.world.run_for(1s);
  hosts.world.heal("b", "a");
  std::string got;
  run(hosts.world, read_text(*hosts.there, 100, got));
  CHECK(got == "the end");
}

TEST_CASE("a cut does not reach other hosts") {
  pair_of_hosts hosts;
  hosts.world.cut("a", "c");
  hosts.world.cut("client", "b");
  CHECK(hosts.passes());
}

TEST_CASE("a one-way cut lets the other way through, but no connection") {
  pair_of_hosts hosts;
  hosts.world.cut_way("b", "a");
  CHECK(hosts.passes());
  std::string got;
  const auto answer = start(hosts.world, write_text(*hosts.there, "lost for now"));
  const auto reading = start(hosts.world, read_text(*hosts.here, 12, got));
  stream_ptr another;
  const auto connecting = start(hosts.world, connect_into(*hosts.a, "b:1", never, another));
  hosts.world.run_for(60s);
  CHECK(answer->text() == well);
  CHECK_FALSE(reading->done());
  CHECK_FALSE(connecting->done());
  hosts.world.heal("a", "b");
  hosts.world.run_for(1s);
  CHECK(got == "lost for now");
  CHECK(connecting->text() == well);
}

TEST_CASE("connecting over a cut ends at the deadline") {
  pair_of_hosts hosts;
  hosts.world.cut("a", "b");
  stream_ptr stream;
  const auto begun = hosts.world.now();
  CHECK(failure([&] { run(hosts.world, connect_into(*hosts.a, "b:1", begun + 5s, stream)); }) ==
        "deadline_exceeded: b:1 did not answer in time");
  CHECK(hosts.world.now() == begun + 5s);
}

TEST_CASE("a killed host's streams break at both ends, and its address is refused") {
  pair_of_hosts hosts;
  std::string here, there;
  stream_ptr stream;
  const auto peer = start(hosts.world, read_text(*hosts.here, 1, here));
  const auto own = start(hosts.world, read_text(*hosts.there, 1, there));
  const auto accepting = start(hosts.world, accept_into(*hosts.listening, stream));
  hosts.world.run_for(1s);
  hosts.world.kill("b");
  hosts.world.run_for(0s);
  CHECK(own->text() == "unavailable: the stream a-b:1#1 broke: host b was killed");
  CHECK(accepting->text() == "cancelled: the listener on b:1 was closed");
  CHECK_FALSE(peer->done());
  hosts.world.run_for(1s);
  CHECK(peer->text() == "unavailable: the stream a-b:1#1 broke: the peer is gone");
  CHECK(failure([&] { run(hosts.world, connect_into(*hosts.a, "b:1", never, stream)); }) ==
        "unavailable: nobody listens on b:1");
  CHECK(failure([&] { run(hosts.world, connect_into(*hosts.b, "a:1", never, stream)); }) ==
        "unavailable: host b is no more");
  CHECK(failure([&] { hosts.b->listen("b:1"); }) == "unavailable: host b is no more");
}

TEST_CASE("a killed host comes back as a new one, while the old one's timers run on") {
  pair_of_hosts hosts;
  hosts.world.kill("b");
  const auto again = hosts.world.host("b");
  start(*again, serve(again, again->listen("b:1")));
  std::string answer;
  run(hosts.world, ask(*hosts.a, "b:1", "are you back?", answer));
  CHECK(answer == "are you back?");
  run(hosts.world, sleep_until(*hosts.b, hosts.world.now() + 1s));
}

TEST_CASE("of what a killed host had sent, a first part arrives") {
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    pair_of_hosts hosts(in_pieces(seed));
    start(hosts.world, write_text(*hosts.here, letters(50)));
    hosts.world.run_for(0s);
    hosts.world.kill("a");
    std::string got;
    const auto end = failure([&] { run(hosts.world, read_text(*hosts.there, 50, got)); });
    CHECK(end == (got.size() == 50 ? well : "unavailable: the stream a-b:1#1 broke: the peer is gone"));
    CHECK(got == letters(50).substr(0, got.size()));
    sizes.insert(got.size());
  }
  CHECK(sizes.size() > 3);
}

TEST_CASE("a kill behind a cut is heard of after heal") {
  pair_of_hosts hosts;
  std::string got;
  const auto reading = start(hosts.world, read_text(*hosts.here, 1, got));
  hosts.world.cut("a", "b");
  hosts.world.kill("b");
  hosts.world.run_for(60s);
  CHECK_FALSE(reading->done());
  hosts.world.heal("a", "b");
  hosts.world.run_for(1s);
  CHECK(reading->text() == "unavailable: the stream a-b:1#1 broke: the peer is gone");
}

TEST_CASE("killing a host ends its connecting") {
  pair_of_hosts hosts;
  hosts.world.cut("a", "b");
  stream_ptr stream;
  const auto connecting = start(hosts.world, connect_into(*hosts.a, "b:1", never, stream));
  hosts.world.run_for(1s);
  hosts.world.kill("a");
  hosts.world.run_for(0s);
  CHECK(connecting->text() == "unavailable: host a was killed");
}

TEST_CASE("a frozen host does nothing until it is thawed, and then all of it") {
  pair_of_hosts hosts;
  std::string got;
  const auto reading = start(hosts.world, read_text(*hosts.there, 5, got));
  const auto sleeping = start(hosts.world, sleep_until(*hosts.b, hosts.world.now() + 1s));
  hosts.world.run_for(1ms);
  hosts.world.freeze("b");
  const auto answer = start(hosts.world, write_text(*hosts.there, "frozen"));
  const auto writing = start(hosts.world, write_text(*hosts.here, "hello"));
  stream_ptr first, second;
  const auto accepting = start(hosts.world, accept_into(*hosts.listening, second));
  const auto connecting = start(hosts.world, connect_into(*hosts.a, "b:1", hosts.world.now() + 5s, first));
  hosts.world.run_for(60s);
  CHECK(writing->text() == well);
  CHECK(connecting->text() == well);  // as with a stopped process
  CHECK_FALSE(reading->done());
  CHECK_FALSE(sleeping->done());
  CHECK_FALSE(accepting->done());
  CHECK_FALSE(answer->done());
  hosts.world.thaw("b");
  hosts.world.run_for(0s);
  CHECK(reading->text() == well);
  CHECK(sleeping->text() == well);
  CHECK(accepting->text() == well);
  CHECK(answer->text() == well);
  CHECK(got == "hello");
}

TEST_CASE("a host that is killed while frozen sees its streams broken") {
  pair_of_hosts hosts;
  std::string got;
  const auto reading = start(hosts.world, read_text(*hosts.there, 5, got));
  hosts.world.run_for(1ms);
  hosts.world.freeze("b");
  hosts.world.kill("b");
  hosts.world.run_for(0s);
  CHECK(reading->text() == "unavailable: the stream a-b:1#1 broke: host b was killed");
}

TEST_CASE("a reset of one way breaks the streams that the first host has opened, and no others") {
  pair_of_hosts hosts;
  std::string here;
  const auto reading = start(hosts.world, read_text(*hosts.here, 1, here));
  hosts.world.run_for(1s);
  hosts.world.reset_way("b", "a");
  hosts.world.run_for(1s);
  CHECK_FALSE(reading->done());
  hosts.world.reset_way("a", "b");
  hosts.world.run_for(0s);
  CHECK(reading->text() == "unavailable: the stream a-b:1#1 broke: it was reset");
}

TEST_CASE("on a lost stream nothing arrives, not even its end, and others can be made") {
  pair_of_hosts hosts;
  std::string here, there;
  start(hosts.world, write_text(*hosts.here, "abc"));
  hosts.world.lose("b", "a");
  const auto reading = start(hosts.world, read_text(*hosts.there, 1, there));
  start(hosts.world, write_text(*hosts.here, "def"));
  hosts.world.run_for(1h);
  hosts.here = nullptr;
  hosts.world.run_for(1h);
  CHECK_FALSE(reading->done());
  run(hosts.world, connect_into(*hosts.a, "b:1", never, hosts.here));
}

TEST_CASE("a reset breaks the streams between two hosts at both ends, and no others") {
  pair_of_hosts hosts;
  std::string here, there;
  const auto reading = start(hosts.world, read_text(*hosts.here, 1, here));
  const auto other = start(hosts.world, read_text(*hosts.there, 1, there));
  hosts.world.run_for(1s);
  hosts.world.reset("a", "c");
  hosts.world.run_for(1s);
  CHECK_FALSE(reading->done());
  hosts.world.reset("b", "a");
  hosts.world.run_for(0s);
  CHECK(reading->text() == "unavailable: the stream a-b:1#1 broke: it was reset");
  CHECK(other->text() == "unavailable: the stream a-b:1#1 broke: it was reset");
  run(hosts.world, connect_into(*hosts.a, "b:1", never, hosts.here));
}

// ---- time

awaitable<void> wait_on(timer& which, time_point when, std::string name, std::string& heard) {
  heard += name + (co_await which.wait_until(when) ? "! " : "? ");
}

TEST_CASE("timers fire in the order of their times, and a cancelled one tells so") {
  sim_network world(options());
  const auto begun = world.now();
  const auto one = world.make_timer(), two = world.make_timer(), three = world.make_timer();
  auto four = world.make_timer();
  std::string heard;
  start(world, wait_on(*two, begun + 2s, "two", heard));
  start(world, wait_on(*one, begun + 1s, "one", heard));
  start(world, wait_on(*three, never, "three", heard));
  start(world, wait_on(*four, begun + 9s, "four", heard));
  world.run_for(1500ms);
  CHECK(heard == "one! ");
  three->cancel();
  four = nullptr;
  CHECK(heard == "one! ");  // never within the call
  world.run_until_idle();
  CHECK(heard == "one! three? four? two! ");
  CHECK(world.now() == begun + 2s);
  one->cancel();
  start(world, wait_on(*one, begun, "past", heard));
  world.run_until_idle();
  CHECK(heard == "one! three? four? two! past! ");
  CHECK(world.now() == begun + 2s);
}

TEST_CASE("a wait ends at its deadline in virtual time, in no real time") {
  sim_network world(options());
  const auto begun = world.now();
  const auto real = std::chrono::steady_clock::now();
  countdown something;
  CHECK_FALSE(world.wait(something, begun + 1h));
  CHECK(world.now() == begun + 1h);
  const auto sleeping = start(world, sleep_until(world, begun + 2h));
  CHECK_FALSE(world.wait(something, begun + 90min));
  CHECK(world.now() == begun + 90min);
  CHECK_FALSE(world.wait(something, begun));
  CHECK(world.now() == begun + 90min);
  CHECK(world.wait(sleeping->ended, begun + 2h));
  CHECK(world.now() == begun + 2h);
  world.run_for(3h);
  CHECK(world.now() == begun + 5h);
  CHECK(std::chrono::steady_clock::now() - real < 10s);
}

awaitable<void> beat(network& net) {
  while (true) co_await sleep_until(net, net.now() + 1s);
}

TEST_CASE("waiting for what can never happen is an error, and so is waiting within the network") {
  auto how = options();
  how.max_wait = 1h;
  sim_network world(how);
  countdown something;
  CHECK(failure([&] { world.wait(something, {}); }) ==
        "internal: nothing will ever happen: the simulated network has no event left");
  world.post([&] { world.wait(something, {}); });
  CHECK(failure([&] { world.run_until_idle(); }) ==
        "internal: what the simulated network runs must not wait for the simulated network");
  start(world, beat(world));
  CHECK(failure([&] { world.wait(something, {}); }) ==
        "internal: what is waited for did not happen while the simulated network was patient");
  world.post([&] { something.count_down(); });
  CHECK(world.wait(something, {}));
}

// ---- the same again

awaitable<void> keep_asking(network& net, std::string address, int times, int& answered) {
  for (int i = 0; i < times; ++i) {
    std::string answer;
    try {
      co_await ask(net, address, letters(300), answer);
      answered += answer.size() == 300;
    } catch (const error&) {
    }
    co_await sleep_until(net, net.now() + 10ms);
  }
}

std::vector<std::string> troubled_run(std::uint64_t seed) {
  sim_network world(in_pieces(seed));
  auto ps = world.host("ps0");
  const auto worker = world.host("worker0");
  start(*ps, serve(ps, ps->listen("ps0:1")));
  int answered = 0;
  start(world, keep_asking(world, "ps0:1", 50, answered));
  const auto asking = start(*worker, keep_asking(*worker, "ps0:1", 50, answered));
  world.run_for(25ms);
  world.cut("worker0", "ps0");
  world.run_for(25ms);
  world.freeze("ps0");
  world.heal("worker0", "ps0");
  world.run_for(25ms);
  world.thaw("ps0");
  world.run_for(101ms);
  world.reset("client", "ps0");
  world.kill("ps0");
  world.run_for(51ms);
  ps = world.host("ps0");
  start(*ps, serve(ps, ps->listen("ps0:1")));
  world.wait(asking->ended, {});
  CHECK(answered > 50);
  CHECK(answered < 100);
  return world.log();
}

TEST_CASE("the same seed gives the same events, another seed others") {
  const auto first = troubled_run(1);
  CHECK(first.size() > 1000);
  CHECK(first == troubled_run(1));
  CHECK(first != troubled_run(2));
}

awaitable<void> ask_until(std::shared_ptr<network> net, std::string address, bool& stop, int& answered, int& wrong) {
  while (!stop) {
    std::string answer;
    const auto question = letters(60);
    try {
      co_await ask(*net, address, question, answer);
      (answer == question ? answered : wrong) += 1;
    } catch (const error& e) {
      wrong += e.code() != errc::unavailable || answer != question.substr(0, answer.size());
    }
    co_await sleep_until(*net, net->now() + 1ms);
  }
}

TEST_CASE("whatever happens to three hosts, what arrives is right, and everything ends once all is healed") {
  int answered = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    sim_network world(in_pieces(seed));
    const std::string names[] = {"a", "b", "c"};
    bool stop = false;
    std::vector<std::shared_ptr<pinion_tests::outcome_of>> loops;
    const auto bring_up = [&](const std::string& name) {
      const auto host = world.host(name);
      start(*host, serve(host, host->listen(name + ":1")));
      for (const auto& other : names)
        loops.push_back(start(*host, ask_until(host, other + ":1", stop, answered, wrong)));
    };
    for (const auto& name : names) bring_up(name);
    std::uint64_t chance = seed;
    const auto below = [&](std::uint64_t bound) {
      chance = chance * 6364136223846793005 + 1442695040888963407;
      return (chance >> 33) % bound;
    };
    const auto any = [&] { return names[below(3)]; };
    const std::function<void()> faults[] = {[&] { world.cut(any(), any()); },
                                            [&] { world.cut_way(any(), any()); },
                                            [&] { world.heal(any(), any()); },
                                            [&] { world.freeze(any()); },
                                            [&] { world.thaw(any()); },
                                            [&] { world.reset(any(), any()); },
                                            [&] {
                                              const auto victim = any();
                                              world.kill(victim);
                                              bring_up(victim);
                                            }};
    for (int i = 0; i < 60; ++i) {
      faults[below(std::size(faults))]();
      world.run_for(std::chrono::microseconds(10 * below(1000)));
    }
    for (const auto& name : names) {
      world.thaw(name);
      for (const auto& other : names) world.heal(name, other);
    }
    stop = true;
    world.run_for(10s);
    for (const auto& loop : loops) CHECK(loop->text() == well);
  }
  CHECK(wrong == 0);
  CHECK(answered > 1000);
}

// ---- without waiting, and one way only

TEST_CASE("read_now takes what has arrived, and nothing before, after or on a frozen host") {
  pair_of_hosts hosts(in_pieces());
  std::vector<std::byte> room(1000);
  CHECK(hosts.there->read_now(room) == 0);
  start(hosts.world, write_text(*hosts.here, letters(500)));
  hosts.world.run_for(1s);
  hosts.world.freeze("b");
  CHECK(hosts.there->read_now(room) == 0);
  hosts.world.thaw("b");
  CHECK(hosts.there->read_now(std::span(room).first(100)) == 100);
  CHECK(hosts.there->read_now(room) == 400);
  CHECK(hosts.there->read_now(room) == 0);
}

TEST_CASE("a side that has finished is at its end for the peer, and still reads") {
  pair_of_hosts hosts;
  hosts.here->finish();
  std::string end, heard;
  const auto ending = start(hosts.world, read_text(*hosts.there, 1, end));
  start(hosts.world, write_text(*hosts.there, "well"));
  start(hosts.world, read_text(*hosts.here, 4, heard));
  hosts.world.run_for(1s);
  CHECK(heard == "well");
  CHECK(ending->text() == well);
  CHECK(end == "");
}

// ---- the end

// Its frame owns all that a protocol's may, and never ends.
awaitable<void> hold_everything(std::shared_ptr<network> net, std::string own, int& alive) {
  struct counted {
    int& n;
    explicit counted(int& count) : n(count) { ++n; }
    ~counted() { --n; }
  };
  const counted self(alive);
  const std::shared_ptr<listener> listening = net->listen(own);
  const auto inner = co_await net->connect(own, time_point::max());
  const auto outer = co_await listening->accept();
  const auto timer = net->make_timer();
  std::string heard, got;
  start(*net, wait_on(*timer, time_point::max(), "never", heard));
  start(*net, read_text(*inner, 1, got));
  start(*net, write_text(*inner, letters(1 << 20)));
  start(*net, serve(net, listening));
  co_await sleep_until(*net, net->now() + 1000h);
}

TEST_CASE("a world ends with everything pending, and what outlives it does no harm") {
  int alive = 0;
  std::shared_ptr<network> net;
  std::unique_ptr<timer> timer;
  stream_ptr here, there;
  std::unique_ptr<listener> listening;
  {
    pair_of_hosts hosts(in_pieces());
    net = hosts.b;
    timer = net->make_timer();
    start(hosts.world, hold_everything(hosts.a, "a:5", alive));
    start(hosts.world, hold_everything(hosts.b, "b:5", alive));
    start(hosts.world, write_text(*hosts.here, "on the way"));
    stream_ptr unaccepted, cut_off;
    run(hosts.world, connect_into(*hosts.a, "b:1", never, unaccepted));
    hosts.world.run_for(20ms);
    hosts.world.freeze("b");
    hosts.world.cut("a", "c");
    start(hosts.world, connect_into(*hosts.a, "c:1", never, cut_off));
    start(hosts.world, connect_into(*hosts.a, "b:1", never, cut_off));
    start(hosts.world, write_text(*hosts.here, "not yet on the way"));
    hosts.world.run_for(100us);
    start(hosts.world, beat(hosts.world));  // never begun
    CHECK(alive == 2);
    here = std::move(hosts.here);
    there = std::move(hosts.there);
    listening = std::move(hosts.listening);
  }
  CHECK(alive == 0);
  CHECK(failure([&] { net->listen("b:6"); }) == "unavailable: host b is no more");
  const asio::const_buffer part("late", 4);
  CHECK(here->write_now({&part, 1}) == 0);
  timer->cancel();
  listening->close();
}

}  // namespace
