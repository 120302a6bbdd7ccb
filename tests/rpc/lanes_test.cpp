// The two lanes of a channel: one that is dead takes the channel down, and one that is busy does not.
#include <catch2/catch.hpp>

#include <rpc/echo.hpp>

namespace {

using namespace pinion_tests;

// A host between the worker and the ps that passes bytes on; of the connections it holds up some swallow what the ps
// answers.
struct proxy {
  echo_world& w;
  std::shared_ptr<sim_network> net = w.world.host("proxy");
  std::shared_ptr<listener> listening = net->listen("proxy:1");
  bool swallows[2] = {false, false};  // on the control lane, which comes first, and on the data lane

  explicit proxy(echo_world& of) : w(of) { net->spawn(serve()); }

  awaitable<void> serve() {
    for (int lane = 0;; lane = 1 - lane) {
      const std::shared_ptr<byte_stream> client = co_await listening->accept();
      const std::shared_ptr<byte_stream> server = co_await net->connect(ps_at, never);
      const bool none = false;
      net->spawn(pass(client, server, none));
      net->spawn(pass(server, client, swallows[lane]));
    }
  }
  static awaitable<void> pass(std::shared_ptr<byte_stream> from, std::shared_ptr<byte_stream> to, const bool& nothing) {
    std::vector<std::byte> room(4096);
    try {
      for (std::size_t n = 1; n > 0;) {
        n = co_await from->read_some(room);
        const asio::const_buffer part(room.data(), n);
        if (n > 0 && !nothing) co_await to->write({&part, 1});
      }
    } catch (const error&) {
    }
    to->close();
  }

  channel& connected() {
    w.ways.push_back(std::make_shared<channel>(*w.worker, "proxy:1", ps_name,
                                               channel_options{.me = {"", 7}, .heartbeat = heartbeat}));
    if (const auto why = w.connect(*w.ways.back()); !why.empty()) throw error(errc::internal, why);
    return *w.ways.back();
  }
};

TEST_CASE("C4: a lane whose answers are swallowed takes the channel down within two heartbeats, and is named") {
  const bool data = GENERATE(false, true);
  echo_world w;
  proxy between(w);
  channel& way = between.connected();
  w.world.run_for(5s);
  CHECK(way.up());
  const auto asked = ask(way, keep, "", "", data ? lane::data : lane::control);
  between.swallows[data ? 1 : 0] = true;
  CHECK(w.until([&] { return !way.up(); }) <= 2 * heartbeat + 10ms);
  CHECK(way.why_down().sentence() == ps_name + " at proxy:1 has not answered on the " + (data ? "data" : "control") +
                                         " lane for 2.0 s, but does on the " + (data ? "control" : "data") +
                                         " lane: something between the tasks holds that connection up");
  CHECK(asked->times == 1);
  CHECK(asked->why->task() == ps_name);
  CHECK(way.view().state == task_state::dead);
}

TEST_CASE("C4: a lane is not dead whose value takes long, whichever way it goes") {
  sim_options slow;
  slow.bytes_per_second = 50'000;
  slow.write_now_percent = GENERATE(0, 100);
  echo_world w(slow);
  channel& way = w.connected();
  const auto there = ask(way, keep, "", pattern(1'000'000));
  w.world.run_for(30s);
  CHECK(way.up());
  CHECK(w.ps->kept.size() == 1);
  const auto back = ask(way, same, "", pattern(1'000'000));
  w.world.run_for(60s);
  CHECK(way.up());
  CHECK((back->payload == pattern(1'000'000)));
  CHECK(way.generation() == 1);
  CHECK(there->times == 0);
}

TEST_CASE("C4: a peer that stops to take a large value is noticed, though it had taken much") {
  sim_options slow;
  slow.bytes_per_second = 50'000;
  echo_world w(slow);
  channel& way = w.connected();
  ask(way, keep, "", pattern(1'000'000));
  w.world.run_for(10s);
  CHECK(way.up());
  w.world.cut("worker", "ps");
  CHECK(w.until([&] { return !way.up(); }) <= 3 * heartbeat);
}

TEST_CASE("what is known of a task tells how it left: joining, running, stopped, finished or dead") {
  sim_options how_it_writes;
  how_it_writes.write_now_percent = 100;
  echo_world w(how_it_writes);
  w.ps = nullptr;
  channel& way = w.way();
  CHECK(to_string(way.view()) == "joining");
  CHECK_THAT(w.connect(way, 1s), Catch::StartsWith("deadline_exceeded: "));
  CHECK_THAT(to_string(way.view()), Catch::StartsWith("joining: ") && Catch::Contains(ps_at));

  w.start_ps();
  CHECK(w.connect(way) == "");
  w.world.run_for(10s);
  CHECK_THAT(to_string(way.view()), Catch::Matches("running, last heard 0\\.[0-9] s ago"));

  w.world.freeze("ps");
  w.world.run_for(10s);
  CHECK_THAT(to_string(way.view()), Catch::Matches("dead, last heard [0-9.]+ s ago: " + ps_title + " has not .*"));
  w.world.thaw("ps");

  for (const auto how : {task_state::stopped, task_state::finished}) {
    bool told = false;
    for (int life = 0; life < 20 && !told; ++life) {
      w.start_ps();
      CHECK(w.connect(way) == "");
      w.world.run_for(5s);
      w.ps->stop(farewell(ps_name, how));
      CHECK(w.until([&] { return !way.up(); }) <= 10ms);
      CHECK(way.why_down().task() == ps_name);
      told = way.view().state != task_state::dead;  // else the goodbye did not go through
    }
    CHECK(way.view().state == how);
    CHECK(way.view().reason == ps_name + (how == task_state::stopped ? " was stopped" : " has finished"));
  }
}

// One lane of a client by hand: it says something once the other lane is there, and hears what comes until the end.
awaitable<void> lane_by_hand(network& net, lane which, std::string says, time_point when, std::string& heard) {
  const auto stream = co_await net.connect(ps_at, never);
  hello mine;
  mine.lane = which;
  mine.channel = 77;
  co_await greet(*stream, mine, nobody, ps_at);
  co_await sleep_until(net, when);
  if (!says.empty()) co_await write_text(*stream, says);
  co_await read_all(*stream, heard);
}

// What a client hears on each lane when one of them says what cannot be read.
struct heard_on {
  std::string data, control;
};
heard_on what_is_heard(lane wrong, std::uint64_t seed) {
  sim_options how;
  how.seed = seed;
  how.write_now_percent = 100;
  echo_world w(how);
  const std::string refused = frame({.kind = frame_kind::request, .method = balk, .id = 1}, "what is this?");
  const auto both_are_there = w.world.now() + 1s;
  heard_on all;
  const auto begin = [&](lane which, std::string& heard) {
    start(*w.other, lane_by_hand(*w.other, which, which == wrong ? refused : "", both_are_there, heard));
  };
  begin(lane::data, all.data);
  begin(lane::control, all.control);
  w.world.run_for(5s);
  CHECK(w.ps->gone == std::vector<std::string>{cannot_be_read().sentence()});
  return all;
}

// A goodbye may be cut short on its way, since nobody waits for it.
TEST_CASE("C2: a client that is thrown out for what it says on one lane is told why on both") {
  const lane wrong = GENERATE(lane::data, lane::control);
  int on_data = 0, on_control = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const heard_on all = what_is_heard(wrong, seed);
    on_data += all.data.find(cannot_be_read().sentence()) != std::string::npos;
    on_control += all.control.find(cannot_be_read().sentence()) != std::string::npos;
  }
  CHECK(on_data > 5);
  CHECK(on_control > 5);
}

// The times between attempts to connect, in milliseconds, while nobody listens.
std::vector<double> pauses(std::uint64_t seed) {
  sim_options how;
  how.seed = seed;
  how.keep_log = true;
  echo_world w(how);
  w.ps = nullptr;
  w.connect(w.way(), 60s);
  std::vector<double> times, between;
  for (const std::string& line : w.world.log())
    if (line.find(" does not connect") != line.npos) times.push_back(std::stod(line) / 1e6);
  for (std::size_t i = 1; i < times.size(); ++i) between.push_back(times[i] - times[i - 1]);
  return between;
}

TEST_CASE("attempts to connect come at ever longer intervals, up to a second, that differ from client to client") {
  const auto one = pauses(1), other = pauses(2);
  REQUIRE(one.size() > 60);
  CHECK(one.size() < 200);
  CHECK(one.front() < 15);
  CHECK(*std::min_element(one.end() - 20, one.end()) >= 500);
  CHECK(*std::max_element(one.begin(), one.end()) < 1010);
  CHECK(std::equal(one.begin(), one.begin() + 20, pauses(1).begin()));
  CHECK_FALSE(std::equal(one.begin(), one.begin() + 20, other.begin()));
}

}  // namespace
