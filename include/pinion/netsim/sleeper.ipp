// Bodies of <pinion/netsim/sleeper.hpp>.
#pragma once

#include <cassert>

#include <pinion/netsim/sleeper.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL awaitable<void> sleeper::sleep() {
  const auto initiate = [this](auto handler) {
    assert(number_ == 0 && "one operation of a kind at a time");
    const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
    number_ = world_->sleep([kept] { (*kept)(); });
  };
  return asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, asio::use_awaitable);
}

PINION_DECL void sleeper::wake() {
  if (number_ != 0) world_->wake(std::exchange(number_, 0), *host_);
}

}}}  // namespace pinion::v0::netsim
