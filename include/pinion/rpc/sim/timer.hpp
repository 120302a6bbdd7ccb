// A timer of a simulated host.
#pragma once

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/sim/sleeper.hpp>

namespace pinion::inline v0::rpc::sim {

class timer final : public rpc::timer {
 public:
  timer(const world_ptr& world, const host_ptr& host)
      : state_(std::make_shared<state>(state{world, host, sleeper(*world, host), {}, false})) {}
  ~timer() override { cancel(); }
  awaitable<bool> wait_until(time_point when) override { return waiting(state_, when); }
  void cancel() noexcept override {
    state_->world->drop(state_->due);
    state_->waiter.wake();
  }

 private:
  struct state {
    world_ptr world;
    host_ptr host;
    sleeper waiter;
    event due;
    bool fired;
  };
  static awaitable<bool> waiting(std::shared_ptr<state> s, time_point when) {
    s->fired = false;
    s->due = s->world->at(when, [s] {
      s->world->note(s->host->name, " timer");
      s->due.reset();
      s->fired = true;
      s->waiter.wake();
    });
    co_await s->waiter.sleep();
    co_return s->fired;
  }

  std::shared_ptr<state> state_;
};

}  // namespace pinion::inline v0::rpc::sim
