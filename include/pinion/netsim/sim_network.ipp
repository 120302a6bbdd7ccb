// Bodies of <pinion/netsim/sim_network.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>

#include <pinion/netsim/attempt.hpp>
#include <pinion/netsim/connection.hpp>
#include <pinion/netsim/listener.hpp>
#include <pinion/netsim/sim_network.hpp>
#include <pinion/netsim/timer.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL sim_network::sim_network(sim_options options)
    : world_(std::make_shared<netsim::world>(options)), first_(true) {
  host_ = host("client")->host_;
}

PINION_DECL sim_network::~sim_network() {
  if (first_) world_->end();
}

PINION_DECL std::shared_ptr<sim_network> sim_network::host(const std::string& name) {
  auto& found = world_->hosts[name];
  if (!found || found->dead) found = std::make_shared<netsim::host>(netsim::host{name});
  return std::shared_ptr<sim_network>(new sim_network(world_, found));
}

PINION_DECL void sim_network::cut(const std::string& a, const std::string& b) {
  cut_way(a, b);
  cut_way(b, a);
}

PINION_DECL void sim_network::cut_way(const std::string& from, const std::string& to) {
  world_->note("cut ", from, " > ", to);
  world_->cuts.insert({from, to});
}

PINION_DECL void sim_network::heal(const std::string& a, const std::string& b) {
  world_->note("heal ", a, " = ", b);
  world_->cuts.erase({a, b});
  world_->cuts.erase({b, a});
  for (const auto& each : world_->alive(world_->connections))
    for (const int side : {0, 1}) each->resume(side, world_->latency());
  for (const auto& each : world_->alive(world_->attempts))
    if (!each->over() && !each->arrival) each->set_out();
}

PINION_DECL void sim_network::freeze(const std::string& host_name) {
  world_->note("freeze ", host_name);
  host(host_name)->host_->frozen = true;
}

PINION_DECL void sim_network::thaw(const std::string& host_name) {
  world_->note("thaw ", host_name);
  const auto thawed = host(host_name)->host_;
  world_->wake_late(*thawed);
  for (const auto& each : world_->alive(world_->connections))
    for (netsim::half& end : each->ends)
      if (end.host == thawed) end.writer.wake();
}

PINION_DECL void sim_network::kill(const std::string& host_name) {
  world_->note("kill ", host_name);
  const auto victim = host(host_name)->host_;
  victim->dead = true;
  for (const auto& each : world_->alive(world_->connections))
    for (const int side : {0, 1})
      if (each->ends[side].host == victim) each->kill(side);
  for (const auto& listening : std::map(world_->listeners))
    if (listening.second->host == victim) listening.second->close();
  for (const auto& each : world_->alive(world_->attempts))
    if (each->host == victim && !each->over())
      each->finish(error(errc::unavailable, "host " + host_name + " was killed"));
  world_->wake_late(*victim);
}

// Was it opened by the one host, to the other?
inline bool leads(const connection& c, const std::string& from, const std::string& to) {
  return c.ends[0].host->name == from && c.ends[1].host->name == to;
}

PINION_DECL void sim_network::reset(const std::string& a, const std::string& b) {
  world_->note("reset ", a, " = ", b);
  for (const auto& each : world_->alive(world_->connections))
    if (leads(*each, a, b) || leads(*each, b, a)) each->reset();
}

PINION_DECL void sim_network::reset_way(const std::string& from, const std::string& to) {
  world_->note("reset ", from, " > ", to);
  for (const auto& each : world_->alive(world_->connections))
    if (leads(*each, from, to)) each->reset();
}

PINION_DECL void sim_network::lose(const std::string& a, const std::string& b) {
  world_->note("lose ", a, " = ", b);
  for (const auto& each : world_->alive(world_->connections))
    if (leads(*each, a, b) || leads(*each, b, a)) each->lose();
}

PINION_DECL void sim_network::run_for(duration time) {
  const time_point end = world_->now + time;
  world_->pump([] { return false; }, end);
  world_->now = std::max(world_->now, end);
}

PINION_DECL std::optional<time_point> sim_network::next_event() const {
  if (world_->ready) return world_->now;
  if (world_->events.empty()) return std::nullopt;
  return world_->events.begin()->first.first;
}

PINION_DECL void sim_network::skip_to(time_point when) {
  world_->now = std::max(world_->now, when);
}

PINION_DECL void sim_network::run_until_idle() {
  world_->pump([] { return false; }, {});
}

PINION_DECL const std::vector<std::string>& sim_network::log() const {
  return world_->log;
}

PINION_DECL asio::io_context& sim_network::context() {
  world_->ready = true;
  return world_->context;
}

PINION_DECL time_point sim_network::now() const {
  return world_->now;
}

PINION_DECL std::unique_ptr<rpc::timer> sim_network::make_timer() {
  return std::make_unique<netsim::timer>(world_, host_);
}

PINION_DECL std::uint64_t sim_network::draw() {
  return world_->below(std::numeric_limits<std::uint64_t>::max());
}

PINION_DECL awaitable<std::unique_ptr<byte_stream>> sim_network::connect(std::string address, time_point deadline) {
  return netsim::connect(world_, host_, std::move(address), deadline);
}

PINION_DECL std::unique_ptr<rpc::listener> sim_network::listen(const std::string& address) {
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
  const auto made = std::make_shared<netsim::listening>(
      netsim::listening{world_, host_, named(port), netsim::sleeper(*world_, host_)});
  if (!world_->listeners.emplace(made->address, made).second)
    throw error(errc::already_exists, "the address " + made->address + " is taken");
  world_->note("listen ", made->address);
  return std::make_unique<netsim::listener>(made);
}

PINION_DECL bool sim_network::wait(countdown& event, const std::optional<time_point>& deadline) {
  using ending = netsim::world::ending;
  const bool limited = deadline && *deadline < time_point::max();
  const auto how =
      world_->pump([&event] { return event.done(); }, limited ? *deadline : world_->now + world_->options.max_wait);
  if (how == ending::done) return true;
  if (!limited && how == ending::idle)
    throw error(errc::internal, "nothing will ever happen: the simulated network has no event left");
  if (!limited)
    throw error(errc::internal, "what is waited for did not happen while the simulated network was patient");
  world_->now = std::max(world_->now, *deadline);
  return false;
}

}}}  // namespace pinion::v0::netsim
