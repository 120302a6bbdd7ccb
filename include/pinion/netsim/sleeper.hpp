// Suspends a coroutine of a simulated host until the world wakes it.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/netsim/world.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// Suspends one coroutine at a time. A wake-up may be spurious, so the coroutine checks its condition again.
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
