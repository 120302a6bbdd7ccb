// A task that echoes, its clients, and peers that break the rules, on a simulated network.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/netsim/sim_network.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/security/credentials.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

#include <rpc/coroutines.hpp>

namespace pinion_tests {

using namespace std::chrono_literals;

inline const std::string ps_name = "/job:ps/replica:0/task:0", ps_at = "ps:1", ps_title = ps_name + " at " + ps_at;
inline const duration heartbeat = 1s;

// What an echo can be asked for. `late` is answered after a second, `swell` with more than a peer takes.
enum echo_method : method { same = 1, refuse, drop, keep, late, swell, balk, sour };

// A client that is no task. (g++ 12 destroys a temporary twice that is made of braces where a coroutine waits.)
inline const identity nobody;

inline credentials with_key(const std::string& key) {
  return {shared_key(key), nullptr};
}

inline std::string too_much() {
  return std::string(limits{}.control + 1, 'x');
}

// A message as it comes: its control part, and its payload as text.
class letter : public incoming {
 public:
  using deliver = std::function<void(std::string, std::string)>;
  letter(const envelope& e, deliver to) : control_(e.control), payload_(e.payload, ' '), deliver_(std::move(to)) {
    room_ = {reinterpret_cast<std::byte*>(payload_.data()), payload_.size()};
  }
  std::span<const std::span<std::byte>> rooms() const override { return {&room_, 1}; }
  void arrived() override { deliver_(std::move(control_), std::move(payload_)); }

 private:
  std::string control_, payload_;
  std::span<std::byte> room_;
  deliver deliver_;
};

inline error cannot_be_read() {
  return error(errc::data_loss, "it cannot be read");
}
// One of which the payload is found wrong, once it is there.
struct sour_letter final : letter {
  using letter::letter;
  void check() const override { throw cannot_be_read(); }
};

inline message mail(std::string control, std::string payload = {}) {
  message m{std::move(control), {}};
  const auto held = std::make_shared<const std::string>(std::move(payload));
  if (!held->empty()) m.parts.push_back({reinterpret_cast<const std::byte*>(held->data()), held->size(), held});
  return m;
}

inline error refusal() {
  return error(errc::out_of_range, "no")
      .at_node("W", "MatMul", "model.cpp:7")
      .on_device(ps_name + "/device:CPU:0")
      .in_task(ps_name);
}

// One life of the task.
struct echo_task {
  std::shared_ptr<sim_network> net;
  std::uint64_t incarnation = random_number() >> 32;  // of the past, where it is taken for a time
  std::vector<responder> kept;
  int notices = 0, begun = 0;
  std::vector<std::string> gone;                         // why each client went
  std::vector<std::string> log;                          // who was refused
  std::uint64_t held = 0, may_hold = ~std::uint64_t{0};  // of messages that are arriving
  std::shared_ptr<traffic> count = std::make_shared<traffic>();
  std::shared_ptr<acceptor> listening;

  explicit echo_task(std::shared_ptr<sim_network> host, const credentials& shows = {},
                     std::uint64_t bytes_waiting = acceptor_options{}.bytes_waiting,
                     std::size_t clients = acceptor_options{}.clients,
                     std::uint64_t bytes_waiting_of_all = acceptor_options{}.bytes_waiting_of_all)
      : net(std::move(host)),
        listening(std::make_shared<acceptor>(
            *net, net->listen(ps_at),
            acceptor_options{.me = {ps_name, incarnation, shows},
                             .handshakes = 40,
                             .clients = clients,
                             .bytes_waiting = bytes_waiting,
                             .bytes_waiting_of_all = bytes_waiting_of_all,
                             .traffic = count,
                             .log = [this](const std::string& line) { log.push_back(line); }},
            service())) {
    listening->start();
  }
  ~echo_task() { stop(); }
  void stop(const error& why = error(errc::unavailable, ps_name + " was stopped").in_task(ps_name)) {
    countdown stopped;
    listening->stop(why, [&] { stopped.count_down(); });
    net->wait(stopped, {});
    kept.clear();
  }

 private:
  rpc::service service() {
    return {.request = [this](const envelope& e, responder to, const peer_ref&) { return request(e, std::move(to)); },
            .notice = [this](const envelope& e,
                             const peer_ref&) { return std::make_unique<letter>(e, [this](auto&&...) { ++notices; }); },
            .gone = [this](const peer_ref&, const error& why) { gone.push_back(why.sentence()); },
            .hold = [this](std::uint64_t bytes, const peer_ref&) { return hold(bytes); }};
  }
  std::shared_ptr<void> hold(std::uint64_t bytes) {
    if (held + bytes > may_hold) throw error(errc::resource_exhausted, "it is too much");
    held += bytes;
    return {nullptr, [this, bytes](void*) { held -= bytes; }};
  }
  std::unique_ptr<incoming> request(const envelope& e, responder to) {
    const auto answer = std::make_shared<responder>(std::move(to));
    if (e.method == balk) throw cannot_be_read();
    if (e.method == sour) return std::make_unique<sour_letter>(e, [answer](auto&&...) {});
    return std::make_unique<letter>(e, [this, m = e.method, answer](std::string control, std::string payload) {
      ++begun;
      if (m == same) answer->reply(mail(std::move(control), std::move(payload)));
      if (m == refuse) answer->fail(refusal());
      if (m == swell) answer->reply(mail(too_much()));
      if (m == keep) kept.push_back(std::move(*answer));
      if (m == late) after(*net, 1s, [answer, control] { answer->reply(mail(control)); });
    });
  }
};

// What came back to a request.
struct answer {
  int times = 0;
  std::string control, payload, failure;
  std::shared_ptr<error> why;
};
inline std::shared_ptr<answer> ask(channel& way, method m, std::string control, std::string payload = {},
                                   lane by = lane::data) {
  const auto a = std::make_shared<answer>();
  const auto heard = [a](std::string text, std::string load) {
    ++a->times;
    a->control = std::move(text);
    a->payload = std::move(load);
  };
  way.request(by, m, mail(std::move(control), std::move(payload)),
              {.open = [heard](const envelope& e) { return std::make_unique<letter>(e, heard); },
               .failed =
                   [a](const error& why) {
                     ++a->times;
                     a->why = std::make_shared<error>(why);
                     a->failure = std::string(to_string(why.code())) + ": " + why.sentence();
                   }});
  return a;
}

// The task "ps", the host "worker", and channels from there.
struct echo_world {
  sim_network world;
  std::shared_ptr<sim_network> worker, other;
  std::vector<std::shared_ptr<sim_network>> lives;  // of ps: coroutines refer to them to the end
  std::unique_ptr<echo_task> ps;
  std::vector<std::shared_ptr<channel>> ways;

  explicit echo_world(const sim_options& how = {}, const credentials& shows = {})
      : world(how), worker(world.host("worker")), other(world.host("other")) {
    start_ps(shows);
  }
  ~echo_world() {
    for (const auto& way : ways) way->close(error(errc::cancelled, "the test is over"));
    world.run_for(0s);
    ps = nullptr;
  }
  void start_ps(const credentials& shows = {}, std::uint64_t bytes_waiting = acceptor_options{}.bytes_waiting,
                std::size_t clients = acceptor_options{}.clients,
                std::uint64_t bytes_waiting_of_all = acceptor_options{}.bytes_waiting_of_all) {
    ps = nullptr;
    lives.push_back(world.host("ps"));
    ps = std::make_unique<echo_task>(lives.back(), shows, bytes_waiting, clients, bytes_waiting_of_all);
  }

  channel& way(const credentials& shows = {}, const std::string& peer = ps_name, sim_network* from = nullptr,
               duration beat = heartbeat) {
    ways.push_back(std::make_shared<channel>(
        from ? *from : *worker, ps_at, peer,
        channel_options{.me = {"/job:worker/replica:0/task:0", 7, shows}, .heartbeat = beat}));
    return *ways.back();
  }
  // "", or why it did not connect.
  std::string connect(channel& to, duration max_wait = 5s) {
    const auto result = std::make_shared<std::string>();
    const auto ended = std::make_shared<countdown>();
    to.connect(world.now() + max_wait, [=](outcome<> how) {
      if (!how) *result = failure([&] { how.value(); });
      ended->count_down();
    });
    world.wait(*ended, {});
    return *result;
  }
  channel& connected(sim_network* from = nullptr) {
    channel& to = way({}, ps_name, from);
    if (const auto why = connect(to); !why.empty()) throw error(errc::internal, why);
    return to;
  }
  // How long it takes until it does, at most a minute.
  template <class Condition>
  duration until(const Condition& holds) {
    const auto began = world.now();
    while (!holds() && world.now() - began < 60s) world.run_for(10ms);
    return world.now() - began;
  }
};

inline std::string pattern(std::size_t size, std::size_t salt = 0) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * i + salt) % 23);
  return text;
}

// ---- frames by hand

inline std::string frame(frame_header h, const std::string& control = {}, const std::string& payload = {}) {
  if (h.control == 0) h.control = control.size();
  if (h.payload == 0) h.payload = payload.size();
  return std::string(reinterpret_cast<const char*>(&h), sizeof h) + control + payload;
}

// The range of versions that a client speaks, as every version writes it.
inline std::string opening(char least = spoken_versions.least, char greatest = spoken_versions.greatest) {
  return std::string("PINN") + least + '\0' + greatest + '\0';
}

inline awaitable<void> write_text(byte_stream& to, const std::string& text) {
  const asio::const_buffer part = asio::buffer(text);
  co_await to.write({&part, 1});
}
// Until the peer closes or the stream breaks.
inline awaitable<void> read_all(byte_stream& from, std::string& text) {
  std::byte room[256];
  try {
    while (true) {
      const std::size_t n = co_await from.read_some(room);
      if (n == 0) co_return;
      text.append(reinterpret_cast<const char*>(room), n);
    }
  } catch (const error&) {
  }
}

// Connects, shakes hands unless it is a stranger, says something wrong, and reads until it is thrown out.
inline awaitable<void> misbehave(network& net, bool stranger, std::string text, std::string& heard) {
  const auto stream = co_await net.connect(ps_at, never);
  hello me;
  me.channel = random_number();
  if (!stranger) co_await greet(*stream, me, nobody, ps_at);
  co_await write_text(*stream, text);
  co_await read_all(*stream, heard);
}

// A server by hand: takes a connection a time, shakes hands, and says the next of its lines to whoever is there.
inline awaitable<void> lie(std::shared_ptr<network> net, std::shared_ptr<listener> from,
                           std::vector<std::string> lines) {
  const identity me{ps_name, 1};
  std::vector<std::unique_ptr<byte_stream>> open;
  for (std::size_t i = 0;; ++i) {
    open.push_back(co_await from->accept());
    const std::function<void(const hello&)> any;
    const auto theirs = co_await receive_hello(*open.back(), me, any);
    if (theirs.lane == lane::data) {
      co_await sleep_until(*net, net->now() + 10ms);
      co_await write_text(*open.back(), lines.at(i / 2));
    }
  }
}

}  // namespace pinion_tests
