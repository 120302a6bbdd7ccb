// Answers that a client does not take, and the memory of clients that say nothing.
#include <catch2/catch.hpp>

#include <pinion/rpc/deliveries.hpp>

#include <rpc/echo.hpp>
#include <support/counted_new.hpp>

namespace {

using namespace pinion_tests;

using texts = std::vector<std::string>;
constexpr std::size_t limit = 64 << 10;

// A client that asks and asks, and reads no answer until it is told to.
struct hog {
  std::size_t asked = 0;
  std::string heard;
  bool reads = false;

  awaitable<void> ask(std::shared_ptr<byte_stream> over, std::size_t times, std::string text) {
    const std::string request = frame({.kind = frame_kind::request, .method = same, .id = 1}, text);
    std::string many;
    while (many.size() < 10000) many += request;
    while (asked < times) {
      co_await write_text(*over, many);
      asked += many.size() / request.size();
    }
  }
  awaitable<void> take(network& net, std::shared_ptr<byte_stream> from) {
    while (!reads) co_await sleep_until(net, net.now() + 10ms);
    co_await read_all(*from, heard);
  }
  awaitable<void> begin(std::shared_ptr<network> net, std::size_t times, std::string text) {
    const std::shared_ptr<byte_stream> stream = co_await net->connect(ps_at, never);
    hello me;
    me.channel = random_number();
    co_await greet(*stream, me, nobody, ps_at);
    net->spawn(take(*net, stream));
    co_await ask(stream, times, std::move(text));
  }
};

// A task, and such a client of it that has asked for so many answers for two seconds.
struct hogged : echo_world {
  hog one;
  std::shared_ptr<pinion_tests::outcome_of> asking;

  hogged(std::size_t times, const std::string& text) : echo_world(small_buffers()) {
    start_ps({}, limit);
    asking = start(*other, one.begin(other, times, text));
    world.run_for(2s);
  }
  static sim_options small_buffers() {
    sim_options how;
    how.buffer = 64 << 10;
    return how;
  }
};

TEST_CASE("a client that takes no answers is not heard beyond the limit, and then closed with a sentence") {
  sim_options how;
  how.buffer = 64 << 10;
  how.write_now_percent = GENERATE(0u, 100u);
  echo_world w(how);
  w.start_ps({}, limit);
  channel& good = w.connected();
  hog one;
  const auto asking = start(*w.other, one.begin(w.other, 1 << 20, "an answer that nobody reads"));
  w.world.run_for(5s);
  CHECK_FALSE(asking->done());
  // On their way are the limit, and what both directions of the network hold.
  const std::uint64_t heard = w.ps->count->bytes_received;
  CHECK(heard < limit + 4 * how.buffer);
  w.world.run_for(3s);
  CHECK(w.ps->count->bytes_received < heard + 1000);  // the pings of the other client
  CHECK(w.ps->gone.empty());
  const auto a = ask(good, same, "well");
  w.world.run_for(100ms);
  CHECK(a->control == "well");
  w.world.run_for(6s);
  const std::string why = "more than 65536 bytes wait for the client (limits.bytes_waiting), and it takes none of them";
  CHECK(w.ps->gone == std::vector<std::string>{why});
  CHECK(w.ps->log == std::vector<std::string>{"refused other: " + why});
  CHECK(asking->done());
  CHECK(good.up());
}

TEST_CASE("what a client was to be sent has gone when it has taken that, though it asks on and on") {
  hogged w(1 << 12, std::string(1000, 'x'));
  deliveries sent;
  w.ps->listening->expect(sent);
  w.world.run_for(1s);
  CHECK_FALSE(sent.are_made());
  w.one.reads = true;
  while (!sent.are_made() && !w.asking->done()) w.world.run_for(1ms);
  CHECK(sent.are_made());
  CHECK(w.ps->listening->bytes_waiting() > 0);
}

TEST_CASE("a client that takes its answers late gets all of them") {
  sim_options how;
  how.buffer = 64 << 10;
  how.seed = GENERATE(range(1u, 5u));
  how.write_now_percent = how.seed % 2 * 60;
  echo_world w(how);
  w.start_ps({}, limit);
  const std::size_t times = 40000;
  hog one;
  const auto asking = start(*w.other, one.begin(w.other, times, "late"));
  w.world.run_for(8s);
  CHECK_FALSE(asking->done());
  one.reads = true;
  w.world.run_for(8s);
  CHECK(asking->done());
  CHECK(one.heard.size() == one.asked * (sizeof(frame_header) + 4));
}

TEST_CASE("a limit that is smaller than any answer lets all answers pass") {
  echo_world w;
  w.start_ps({}, 1);
  channel& way = w.connected();
  std::vector<std::shared_ptr<answer>> answers;
  for (std::size_t i = 0; i < 300; ++i)
    answers.push_back(ask(way, same, std::to_string(i), pattern(i * 97 % 5000, i), i % 2 ? lane::data : lane::control));
  const auto large = ask(way, same, "large", pattern(4 << 20));
  w.world.run_for(5s);
  for (std::size_t i = 0; i < answers.size(); ++i) CHECK(answers[i]->payload == pattern(i * 97 % 5000, i));
  CHECK(large->payload == pattern(4 << 20));
}

TEST_CASE("a client that takes one large answer slowly, for longer than it may take none, gets it and others") {
  sim_options how;
  how.bytes_per_second = 150 << 10;
  echo_world w(how);
  w.start_ps({}, limit);
  channel& way = w.connected();
  const auto large = ask(way, same, "large", pattern(5 << 20));
  const auto next = ask(way, same, "next");
  w.world.run_for(30s);
  CHECK(next->control == "next");
  const auto meanwhile = ask(way, same, "meanwhile");
  w.world.run_for(10s);
  CHECK(meanwhile->control == "meanwhile");
  w.world.run_for(20s);
  CHECK(large->times == 0);
  w.world.run_for(60s);
  CHECK(large->payload == pattern(5 << 20));
  CHECK(w.ps->gone.empty());
}

// A client that asks for answers to be kept, and reads none of them.
awaitable<void> ask_and_go_deaf(std::shared_ptr<network> net, std::shared_ptr<byte_stream>* stays, int times) {
  const std::shared_ptr<byte_stream> stream = *stays = co_await net->connect(ps_at, never);
  hello me;
  me.channel = random_number();
  me.heartbeat_ms = 60'000;
  co_await greet(*stream, me, nobody, ps_at);
  std::string all;
  for (int i = 0; i < times; ++i) all += frame({.kind = frame_kind::request, .method = keep, .id = 1}, "keep");
  co_await write_text(*stream, all);
}

awaitable<void> say(std::shared_ptr<byte_stream> to, std::string text) {
  co_await write_text(*to, text);
}

struct deaf_world : echo_world {
  std::shared_ptr<byte_stream> deaf;
  std::shared_ptr<const std::string> memory = std::make_shared<const std::string>(pattern(64 << 20));
  std::size_t answered = 0;

  explicit deaf_world(int times) {
    start_ps({}, limit);
    start(*other, ask_and_go_deaf(other, &deaf, times));
    world.run_for(1s);
  }
  // Answers the next of what was asked for. The answers share their memory.
  std::uint64_t waiting_after(int answers, std::size_t bytes) {
    for (int i = 0; i < answers; ++i) {
      message m{"an answer", {}};
      m.parts.push_back({reinterpret_cast<const std::byte*>(memory->data()), bytes, memory});
      ps->kept.at(answered++).reply(std::move(m));
    }
    return ps->listening->bytes_waiting();
  }
};

TEST_CASE("a client that takes none of the answers that it asked for before gets no more, and is closed in silence") {
  deaf_world w(60);
  const std::uint64_t waiting = w.waiting_after(20, 256 << 10);
  CHECK(waiting > 19 * (256 << 10));  // it may be about to take them
  w.world.run_for(3s);
  CHECK(w.waiting_after(40, 256 << 10) < waiting + 40 * 1000);  // refusals
  CHECK(w.ps->gone.empty());
  w.world.run_for(8s);
  CHECK(w.ps->gone == texts{"more than 65536 bytes wait for the client (limits.bytes_waiting), and it takes none of "
                            "them"});
  CHECK(w.ps->listening->bytes_waiting() == 0);
}

TEST_CASE("of the answers that a client asked for before no more than a gigabyte waits beyond its limit") {
  deaf_world w(100);
  CHECK(w.waiting_after(100, 64 << 20) < std::uint64_t{18} * (64 << 20));
}

TEST_CASE("what waits for all clients is limited; each has its share, and one that takes its answers gets all") {
  constexpr std::uint64_t of_all = 32 << 20, mb = 1 << 20;
  constexpr int clients = 7, answers = 20;
  sim_options how;
  how.buffer = 64 << 10;
  echo_world w(how);
  w.start_ps({}, 8 * mb, 100, of_all);
  std::shared_ptr<byte_stream> deaf[clients];
  for (auto& stays : deaf) start(*w.other, ask_and_go_deaf(w.other, &stays, answers));
  channel& good = w.connected();
  w.world.run_for(1s);
  REQUIRE(w.ps->kept.size() == clients * answers);
  for (auto& to : w.ps->kept) to.reply(mail("an answer", pattern(mb)));
  // Beyond the limit is what connections have of their shares.
  CHECK(w.ps->listening->bytes_waiting() > of_all - mb);
  CHECK(w.ps->listening->bytes_waiting() < 2 * of_all);

  const auto a = ask(good, same, "well", pattern(2 * mb));
  const auto too_much = ask(good, same, "more", pattern(8 * mb));
  w.world.run_for(2s);
  CHECK(a->payload == pattern(2 * mb));
  CHECK_THAT(too_much->failure, Catch::Contains("an answer of ") &&
                                    Catch::Contains("wait for all clients to take them (limits.bytes_waiting_of_all)"));
  w.world.run_for(20s);
  CHECK(w.ps->listening->bytes_waiting() < of_all / 2 + mb);  // of those that have no more than their shares
  REQUIRE(w.ps->gone.size() >= 2);
  CHECK_THAT(w.ps->gone[0], Catch::Contains("bytes wait for the client (its share of limits.bytes_waiting_of_all), and "
                                            "it takes none of them"));
  const auto later = ask(good, same, "more", pattern(8 * mb));
  w.world.run_for(2s);
  CHECK(later->payload == pattern(8 * mb));
}

TEST_CASE("a client that had its share before others came is closed when it takes nothing of it") {
  constexpr std::uint64_t of_all = 32 << 20, mb = 1 << 20;
  echo_world w;
  w.start_ps({}, 24 * mb, 100, of_all);
  std::shared_ptr<byte_stream> deaf[9];
  start(*w.other, ask_and_go_deaf(w.other, &deaf[0], 20));
  w.world.run_for(1s);
  for (auto& to : w.ps->kept) to.reply(mail("an answer", pattern(mb)));
  w.world.run_for(20s);
  CHECK(w.ps->gone.empty());  // nobody else wants the memory
  for (int i = 1; i < 9; ++i) start(*w.other, ask_and_go_deaf(w.other, &deaf[i], 0));
  w.world.run_for(10s);
  CHECK(w.ps->gone.size() == 1);
  CHECK(w.ps->listening->bytes_waiting() == 0);
}

TEST_CASE("a control part is counted as it arrives, and no longer when it has come") {
  echo_world w;
  w.start_ps();
  std::shared_ptr<byte_stream> stays;
  start(*w.other, ask_and_go_deaf(w.other, &stays, 0));
  w.world.run_for(1s);
  const std::string whole = frame({.kind = frame_kind::request, .method = keep, .id = 1}, pattern(5 << 20));
  start(*w.other, say(stays, whole.substr(0, whole.size() - (4 << 20))));
  w.world.run_for(1s);
  CHECK(w.ps->held >= 1 << 20);
  CHECK(w.ps->held <= 2 << 20);
  start(*w.other, say(stays, whole.substr(whole.size() - (4 << 20), (4 << 20) - 1)));
  w.world.run_for(1s);
  CHECK(w.ps->held == 5 << 20);
  start(*w.other, say(stays, whole.substr(whole.size() - 1)));
  w.world.run_for(1s);
  CHECK(w.ps->held == 0);
  CHECK(w.ps->kept.size() == 1);
}

TEST_CASE("a request with a control part that is too much to hold is refused, and the next is heard") {
  echo_world w;
  w.start_ps();
  w.ps->may_hold = 1 << 20;
  channel& way = w.connected();
  const auto large = ask(way, same, pattern(3 << 20), pattern(3 << 20)), small = ask(way, same, pattern(1 << 20));
  w.world.run_for(5s);
  CHECK(large->failure == std::string(to_string(errc::resource_exhausted)) + ": it is too much");
  CHECK(small->control == pattern(1 << 20));
  CHECK(w.ps->held == 0);
  way.notify(lane::data, same, mail(pattern(3 << 20)));
  w.world.run_for(5s);
  CHECK(w.ps->notices == 0);
  CHECK(w.ps->gone == texts{"it is too much"});
}

TEST_CASE("a server that stops does not wait for a client that takes no answers") {
  hogged w(1 << 20, "unread");
  const auto began = w.world.now();
  w.ps->stop();
  CHECK(w.world.now() - began < 100ms);
}

// ---- clients

TEST_CASE("a server takes a limited number of clients, half of them from one address, and keeps those that it has") {
  echo_world w;
  w.start_ps({}, limit, 4);
  channel &first = w.connected(), &second = w.connected();
  const auto refused = [&](sim_network* from, const std::string& why) {
    CHECK_THAT(w.connect(w.way({}, ps_name, from)),
               Catch::Contains(ps_name + " has " + why + ", and takes no more (server_config.limits.clients)"));
  };
  const auto host = [&](const std::string& name) { return w.lives.emplace_back(w.world.host(name)).get(); };
  refused(w.worker.get(), "2 clients from worker");
  w.connected(w.other.get());
  w.connected(host("third"));
  refused(host("fourth"), "4 clients");
  CHECK(first.up());
  second.close(error(errc::cancelled, "it leaves"));
  w.world.run_for(1s);
  w.connected();
}

// ---- memory

TEST_CASE("an idle client costs its server and itself less than 24 KiB, after large messages, too") {
  const std::size_t clients = 50;
  echo_world w;
  w.connected();
  w.world.run_for(1s);
  const std::size_t before = counted_new::bytes;
  for (std::size_t i = 0; i < clients; ++i) w.connected();
  w.world.run_for(2s);
  CHECK((counted_new::bytes - before) / clients < 24 << 10);
  std::vector<std::shared_ptr<answer>> answers;
  for (const auto& way : w.ways) answers.push_back(ask(*way, same, pattern(100 << 10), pattern(300 << 10)));
  w.world.run_for(5s);
  for (const auto& a : answers) CHECK(a->payload.size() == 300 << 10);
  answers.clear();
  w.world.run_for(2s);
  const std::size_t spare = 4 * network::inbox_size * w.lives.size() * 2;  // inboxes that hosts keep for all
  CHECK(counted_new::bytes < before + clients * (24 << 10) + spare);
}

}  // namespace
