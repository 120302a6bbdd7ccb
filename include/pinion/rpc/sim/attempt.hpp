// An attempt to connect over the simulated network.
#pragma once

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/sim/listener.hpp>
#include <pinion/rpc/sim/stream.hpp>

namespace pinion::inline v0::rpc::sim {

struct attempt : std::enable_shared_from_this<attempt> {
  attempt(world_ptr w, const host_ptr& from, std::string to)
      : world(std::move(w)), host(from), waiter(*world, from), address(std::move(to)), target(address) {}

  bool over() const { return stream || failure; }
  void set_out() {
    arrival =
        world->at(world->now + world->latency() + world->latency(), [self = shared_from_this()] { self->arrive(); });
  }
  void arrive() {
    arrival.reset();
    if (world->is_cut(host->name, target.host) || world->is_cut(target.host, host->name)) return;
    const auto found = world->listeners.find(address);
    if (found == world->listeners.end()) return fail({errc::unavailable, "nobody listens on " + address});
    door& at = *found->second;
    const std::string name = host->name + "-" + address + "#" + std::to_string(++world->connected);
    const auto made = std::make_shared<connection>(world, name, host, at.host);
    world->add(world->connections, made);
    at.backlog.push_back(std::make_unique<sim::stream>(made, 1));
    at.waiter.wake();
    stream = std::make_unique<sim::stream>(made, 0);
    finish();
  }
  void fail(error why) {
    failure = std::move(why);
    finish();
  }
  void finish() {
    world->note(host->name, "-", address, stream ? " connects" : " does not connect");
    world->drop(arrival);
    world->drop(limit);
    waiter.wake();
  }

  const world_ptr world;
  const host_ptr host;
  sleeper waiter;
  const std::string address;
  const endpoint target;
  event arrival, limit;  // no arrival while a way is cut
  std::unique_ptr<byte_stream> stream;
  std::optional<error> failure;
};

inline awaitable<std::unique_ptr<byte_stream>> connect(world_ptr world, host_ptr host, std::string address,
                                                       time_point deadline) {
  const auto attempt = std::make_shared<sim::attempt>(world, host, std::move(address));
  if (world->ended || host->dead) throw error(errc::unavailable, "host " + host->name + " is no more");
  world->add(world->attempts, attempt);
  attempt->set_out();
  attempt->limit = world->at(deadline, [attempt] {
    attempt->limit.reset();
    attempt->fail({errc::deadline_exceeded, attempt->address + " did not answer in time"});
  });
  while (!attempt->over()) co_await attempt->waiter.sleep();
  if (attempt->failure) throw error(*attempt->failure);
  co_return std::move(attempt->stream);
}

}  // namespace pinion::inline v0::rpc::sim
