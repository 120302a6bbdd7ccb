// A limit on how long a stream may take for something.
#pragma once

#include <memory>
#include <utility>

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion::inline v0::rpc {

// Closes the stream at that time, unless it goes before. Used by the network's thread; the stream outlives it.
class fuse {
 public:
  fuse(network& net, byte_stream& stream, time_point when) : state_(std::make_shared<state>()) {
    state_->timer = net.make_timer();
    state_->stream = &stream;
    net.spawn(burn(state_, when));
  }
  fuse(const fuse&) = delete;
  ~fuse() {
    state_->stream = nullptr;
    state_->timer->cancel();
  }

 private:
  struct state {
    std::unique_ptr<rpc::timer> timer;
    byte_stream* stream = nullptr;
  };
  static awaitable<void> burn(std::shared_ptr<state> s, time_point when) {
    if (!s->stream) co_return;
    const bool in_time = !co_await s->timer->wait_until(when);
    if (in_time || !s->stream) co_return;
    s->stream->close();
  }

  std::shared_ptr<state> state_;
};

}  // namespace pinion::inline v0::rpc
