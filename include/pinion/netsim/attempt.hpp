// An attempt to connect over the simulated network.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/netsim/sleeper.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// One attempt to connect. Shared by the coroutine that waits for it and by its pending events.
struct attempt : std::enable_shared_from_this<attempt> {
  attempt(world_ptr w, const host_ptr& from, std::string to)
      : world(std::move(w)), host(from), waiter(*world, from), address(std::move(to)), target(address) {}

  bool over() const { return result.has_value(); }
  void set_out();
  void arrive();
  // Ends the attempt.
  void finish(outcome<std::unique_ptr<byte_stream>> how);

  const world_ptr world;
  const host_ptr host;
  sleeper waiter;
  const std::string address;
  const endpoint target;
  event arrival, limit;                                         // `arrival` is empty while a direction is cut
  std::optional<outcome<std::unique_ptr<byte_stream>>> result;  // none until it is over
};

// Connects from a host; throws as rpc::network::connect does.
awaitable<std::unique_ptr<byte_stream>> connect(world_ptr world, host_ptr host, std::string address,
                                                time_point deadline);

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/attempt.ipp>
#endif
