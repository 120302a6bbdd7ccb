// A coroutine of a simulated host that sleeps until the world wakes it.
#pragma once

#include <cassert>

#include <pinion/rpc/sim/world.hpp>

namespace pinion::inline v0::rpc::sim {

// Where one coroutine of a host at a time sleeps until it is woken, which may be for nothing: look again.
class sleeper {
 public:
  sleeper(world& world, host_ptr host) : world_(&world), host_(std::move(host)) {}
  awaitable<void> sleep() {
    const auto initiate = [this](auto handler) {
      assert(number_ == 0 && "one operation of a kind at a time");
      const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      number_ = world_->sleep([kept] { (*kept)(); });
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, asio::use_awaitable);
  }
  void wake() {
    if (number_ != 0) world_->wake(std::exchange(number_, 0), *host_);
  }

 private:
  world* world_;
  host_ptr host_;
  std::uint64_t number_ = 0;
};

}  // namespace pinion::inline v0::rpc::sim
