// Where a simulated host takes connections.
#pragma once

#include <deque>

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/sim/sleeper.hpp>

namespace pinion::inline v0::rpc::sim {

struct door {
  world_ptr world;
  host_ptr host;
  std::string address;
  sleeper waiter;
  std::deque<std::unique_ptr<byte_stream>> backlog = {};
  bool closed = false;

  void close() {
    if (std::exchange(closed, true)) return;
    backlog.clear();
    waiter.wake();
    world->listeners.erase(address);
  }
};

class listener final : public rpc::listener {
 public:
  explicit listener(std::shared_ptr<door> state) : state_(std::move(state)) {}
  ~listener() override { close(); }
  awaitable<std::unique_ptr<byte_stream>> accept() override { return accepting(state_); }
  const std::string& address() const override { return state_->address; }
  void close() noexcept override { state_->close(); }

 private:
  static awaitable<std::unique_ptr<byte_stream>> accepting(std::shared_ptr<door> state) {
    while (state->backlog.empty() && !state->closed) co_await state->waiter.sleep();
    if (state->closed) throw error(errc::cancelled, "the listener on " + state->address + " was closed");
    auto stream = std::move(state->backlog.front());
    state->backlog.pop_front();
    co_return stream;
  }

  std::shared_ptr<door> state_;
};

}  // namespace pinion::inline v0::rpc::sim
