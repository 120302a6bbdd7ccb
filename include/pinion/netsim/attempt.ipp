// Bodies of <pinion/netsim/attempt.hpp>.
#pragma once

#include <pinion/netsim/attempt.hpp>
#include <pinion/netsim/listener.hpp>
#include <pinion/netsim/stream.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL void attempt::set_out() {
  arrival =
      world->at(world->now + world->latency() + world->latency(), [self = shared_from_this()] { self->arrive(); });
}

PINION_DECL void attempt::arrive() {
  arrival.reset();
  if (world->is_cut(host->name, target.host) || world->is_cut(target.host, host->name)) return;
  const auto found = world->listeners.find(address);
  if (found == world->listeners.end()) return finish(error(errc::unavailable, "nobody listens on " + address));
  listening& at = *found->second;
  const std::string name = host->name + "-" + address + "#" + std::to_string(++world->connected);
  const auto made = std::make_shared<connection>(world, name, host, at.host);
  world->add(world->connections, made);
  at.backlog.push_back(std::make_unique<netsim::stream>(made, 1));
  at.waiter.wake();
  finish(std::unique_ptr<byte_stream>(std::make_unique<netsim::stream>(made, 0)));
}

PINION_DECL void attempt::finish(outcome<std::unique_ptr<byte_stream>> how) {
  result = std::move(how);
  world->note(host->name, "-", address, result->ok() ? " connects" : " does not connect");
  world->drop(arrival);
  world->drop(limit);
  waiter.wake();
}

PINION_DECL awaitable<std::unique_ptr<byte_stream>> connect(world_ptr world, host_ptr host, std::string address,
                                                            time_point deadline) {
  const auto attempt = std::make_shared<netsim::attempt>(world, host, std::move(address));
  if (world->ended || host->dead) throw error(errc::unavailable, "host " + host->name + " is no more");
  world->add(world->attempts, attempt);
  attempt->set_out();
  attempt->limit = world->at(deadline, [attempt] {
    attempt->limit.reset();
    attempt->finish(error(errc::deadline_exceeded, attempt->address + " did not answer in time"));
  });
  while (!attempt->over()) co_await attempt->waiter.sleep();
  co_return std::move(*attempt->result).value();
}

}}}  // namespace pinion::v0::netsim
