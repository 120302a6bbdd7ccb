// A coroutine of a simulated host that sleeps until the world wakes it.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/netsim/world.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// Where one coroutine of a host at a time sleeps until it is woken, which may be for nothing: look again.
class sleeper {
 public:
  sleeper(world& world, host_ptr host) : world_(&world), host_(std::move(host)) {}
  awaitable<void> sleep();
  void wake();

 private:
  world* world_;
  host_ptr host_;
  std::uint64_t number_ = 0;
};

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/sleeper.ipp>
#endif
