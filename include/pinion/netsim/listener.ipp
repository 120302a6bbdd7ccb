// Bodies of <pinion/netsim/listener.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/netsim/listener.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL void listening::close() {
  if (std::exchange(closed, true)) return;
  backlog.clear();
  waiter.wake();
  world->listeners.erase(address);
}

PINION_DECL awaitable<std::unique_ptr<byte_stream>> listener::accepting(std::shared_ptr<listening> state) {
  while (state->backlog.empty() && !state->closed) co_await state->waiter.sleep();
  if (state->closed) throw error(errc::cancelled, "the listener on " + state->address + " was closed");
  auto stream = std::move(state->backlog.front());
  state->backlog.pop_front();
  co_return stream;
}

}}}  // namespace pinion::v0::netsim
