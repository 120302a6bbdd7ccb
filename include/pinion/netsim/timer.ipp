// Bodies of <pinion/netsim/timer.hpp>.
#pragma once

#include <pinion/netsim/timer.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL timer::timer(const world_ptr& world, const host_ptr& host)
    : state_(std::make_shared<state>(state{world, host, sleeper(*world, host), {}, false})) {}

PINION_DECL void timer::cancel() noexcept {
  state_->world->drop(state_->due);
  state_->waiter.wake();
}

PINION_DECL awaitable<bool> timer::waiting(std::shared_ptr<state> s, time_point when) {
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

}}}  // namespace pinion::v0::netsim
