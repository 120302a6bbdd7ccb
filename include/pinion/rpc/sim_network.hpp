// A network simulated in virtual time, repeatable and with faults on command: the main test of the protocol.
//
//  1. One thread: whoever calls wait(), run_for() or run_until_idle() runs all hosts. Nothing sleeps in real time.
//  2. Time stands still while anything is ready to run, then jumps to the next event. Events of the same time happen
//     in the order in which they were scheduled.
//  3. Same options and same calls, same events: every choice is drawn from one generator, in the order of the events.
//  4. A coroutine is resumed through the context, never from within what wakes it.
//  5. In each direction bytes arrive in order and once, or the stream breaks. What had arrived when the peer closed or
//     broke it is still read.
//  6. At most options.buffer bytes of a direction are sent and not read; the writer then waits until half of that is
//     read. It knows at once: acknowledgements are not simulated.
//  7. Over a cut way nothing arrives, and nobody is told; what was sent arrives after heal(). No connection comes about
//     while either way is cut.
//  8. A frozen host is a stopped process: its coroutines sleep on and its writes do not begin, while its kernel still
//     takes bytes, sends what it had and completes connections. What was due meanwhile happens at thaw(), in order.
//     Functions posted to the context are not held up.
//  9. A killed host is an incarnation that ended: its streams and listeners are broken for good, and its peers hear of
//     it (over a cut way: after heal()) after a part of what was on the way. Its timers still run, so that its objects
//     can be taken down. The next host() of that name is a new incarnation.
// 10. The world ends with the first sim_network: all that is suspended is destroyed then. Hosts, streams, listeners and
//     timers that outlive it may be held and destroyed; nothing happens any more.
#pragma once

#include <charconv>

#include <pinion/rpc/sim/attempt.hpp>
#include <pinion/rpc/sim/options.hpp>
#include <pinion/rpc/sim/timer.hpp>

namespace pinion::inline v0::rpc {

// The network as one host sees it: the host "client", others by host(). Hosts are names; where it matters, give them
// loopback addresses ("127.0.0.2"). Coroutines may own host()s, but not the first sim_network, which ends them.
class sim_network final : public network {
 public:
  explicit sim_network(sim_options options = {});
  sim_network(const sim_network&) = delete;
  ~sim_network() override;
  std::shared_ptr<sim_network> host(const std::string& name);

  void cut(const std::string& a, const std::string& b);  // both ways, as heal()
  void cut_way(const std::string& from, const std::string& to);
  void heal(const std::string& a, const std::string& b);
  void freeze(const std::string& host);
  void thaw(const std::string& host);
  void kill(const std::string& host);
  void reset(const std::string& a, const std::string& b);  // breaks their streams at both ends, at once

  void run_for(duration time);
  void run_until_idle();                        // until no event is left: never, where a timer is always set anew
  const std::vector<std::string>& log() const;  // "nanoseconds what", if options.keep_log

  asio::io_context& context() override;
  time_point now() const override;
  std::unique_ptr<rpc::timer> make_timer() override;
  awaitable<std::unique_ptr<byte_stream>> connect(std::string address, time_point deadline) override;
  std::unique_ptr<rpc::listener> listen(const std::string& address) override;  // on its own name only
  // Throws internal when it is waited for what can never happen.
  bool wait(countdown& event, const std::optional<time_point>& deadline) override;
  bool single_threaded() const override { return true; }

 private:
  sim_network(std::shared_ptr<sim::world> world, std::shared_ptr<sim::host> host);
  std::shared_ptr<sim::world> world_;
  std::shared_ptr<sim::host> host_;
  bool first_ = false;
};

inline sim_network::sim_network(sim_options options) : world_(std::make_shared<sim::world>(options)), first_(true) {
  host_ = host("client")->host_;
}
inline sim_network::sim_network(std::shared_ptr<sim::world> world, std::shared_ptr<sim::host> host)
    : world_(std::move(world)), host_(std::move(host)) {}
inline sim_network::~sim_network() {
  if (first_) world_->end();
}

inline std::shared_ptr<sim_network> sim_network::host(const std::string& name) {
  auto& found = world_->hosts[name];
  if (!found || found->dead) found = std::make_shared<sim::host>(sim::host{name});
  return std::shared_ptr<sim_network>(new sim_network(world_, found));
}

inline void sim_network::cut(const std::string& a, const std::string& b) {
  cut_way(a, b);
  cut_way(b, a);
}
inline void sim_network::cut_way(const std::string& from, const std::string& to) {
  world_->note("cut ", from, " > ", to);
  world_->cuts.insert({from, to});
}
inline void sim_network::heal(const std::string& a, const std::string& b) {
  world_->note("heal ", a, " = ", b);
  world_->cuts.erase({a, b});
  world_->cuts.erase({b, a});
  for (const auto& each : world_->alive(world_->connections))
    for (const int side : {0, 1}) each->resume(side, world_->latency());
  for (const auto& each : world_->alive(world_->attempts))
    if (!each->over() && !each->arrival) each->set_out();
}
inline void sim_network::freeze(const std::string& host_name) {
  world_->note("freeze ", host_name);
  host(host_name)->host_->frozen = true;
}
inline void sim_network::thaw(const std::string& host_name) {
  world_->note("thaw ", host_name);
  const auto thawed = host(host_name)->host_;
  world_->wake_late(*thawed);
  for (const auto& each : world_->alive(world_->connections))
    for (sim::half& end : each->ends)
      if (end.host == thawed) end.writer.wake();
}
inline void sim_network::kill(const std::string& host_name) {
  world_->note("kill ", host_name);
  const auto victim = host(host_name)->host_;
  victim->dead = true;
  for (const auto& each : world_->alive(world_->connections))
    for (const int side : {0, 1})
      if (each->ends[side].host == victim) each->kill(side);
  for (const auto& listening : std::map(world_->listeners))
    if (listening.second->host == victim) listening.second->close();
  for (const auto& each : world_->alive(world_->attempts))
    if (each->host == victim && !each->over()) each->fail({errc::unavailable, "host " + host_name + " was killed"});
  world_->wake_late(*victim);
}
inline void sim_network::reset(const std::string& a, const std::string& b) {
  world_->note("reset ", a, " = ", b);
  for (const auto& each : world_->alive(world_->connections)) {
    const std::string &from = each->ends[0].host->name, &to = each->ends[1].host->name;
    if ((from == a && to == b) || (from == b && to == a)) each->reset();
  }
}

inline void sim_network::run_for(duration time) {
  const time_point end = world_->now + time;
  world_->pump([] { return false; }, end);
  world_->now = std::max(world_->now, end);
}
inline void sim_network::run_until_idle() {
  world_->pump([] { return false; }, {});
}
inline const std::vector<std::string>& sim_network::log() const {
  return world_->log;
}

inline asio::io_context& sim_network::context() {
  return world_->context;
}
inline time_point sim_network::now() const {
  return world_->now;
}
inline std::unique_ptr<rpc::timer> sim_network::make_timer() {
  return std::make_unique<sim::timer>(world_, host_);
}
inline awaitable<std::unique_ptr<byte_stream>> sim_network::connect(std::string address, time_point deadline) {
  return sim::connect(world_, host_, std::move(address), deadline);
}
inline std::unique_ptr<rpc::listener> sim_network::listen(const std::string& address) {
  const endpoint own(address);
  unsigned port = 0;
  const char* const end = own.port.data() + own.port.size();
  const auto parsed = std::from_chars(own.port.data(), end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end || port > 65535)
    throw error(errc::invalid_argument, "the address '" + address + "' does not end in a port");
  if (own.host != host_->name)
    throw error(errc::invalid_argument, "host " + host_->name + " cannot listen on " + address);
  if (world_->ended || host_->dead) throw error(errc::unavailable, "host " + host_->name + " is no more");
  const auto named = [&own](unsigned number) { return own.host + ":" + std::to_string(number); };
  for (const bool any = port == 0; port == 0 || (any && world_->listeners.count(named(port)) > 0);)
    port = world_->next_port++;
  const auto made = std::make_shared<sim::door>(sim::door{world_, host_, named(port), sim::sleeper(*world_, host_)});
  if (!world_->listeners.emplace(made->address, made).second)
    throw error(errc::already_exists, "the address " + made->address + " is taken");
  world_->note("listen ", made->address);
  return std::make_unique<sim::listener>(made);
}
inline bool sim_network::wait(countdown& event, const std::optional<time_point>& deadline) {
  using ending = sim::world::ending;
  const bool limited = deadline && *deadline < time_point::max();
  const auto how =
      world_->pump([&event] { return event.done(); }, limited ? *deadline : world_->now + world_->options.patience);
  if (how == ending::done) return true;
  if (!limited && how == ending::idle)
    throw error(errc::internal, "nothing will ever happen: the simulated network has no event left");
  if (!limited)
    throw error(errc::internal, "what is waited for did not happen while the simulated network was patient");
  world_->now = std::max(world_->now, *deadline);
  return false;
}

}  // namespace pinion::inline v0::rpc
