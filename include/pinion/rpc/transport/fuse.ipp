// Bodies of <pinion/rpc/transport/fuse.hpp>.
#pragma once

#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/fuse.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL fuse::fuse(network& net, byte_stream& stream, time_point when) : state_(std::make_shared<state>()) {
  state_->timer = net.make_timer();
  state_->stream = &stream;
  net.spawn(burn(state_, when));
}

PINION_DECL fuse::~fuse() {
  state_->stream = nullptr;
  state_->timer->cancel();
}

PINION_DECL awaitable<void> fuse::burn(std::shared_ptr<state> s, time_point when) {
  if (!s->stream) co_return;
  const bool in_time = !co_await s->timer->wait_until(when);
  if (in_time || !s->stream) co_return;
  s->burnt = true;
  s->stream->close();
}

}}}  // namespace pinion::v0::rpc
