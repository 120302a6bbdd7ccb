// A timer of a simulated host.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/netsim/sleeper.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// A timer in virtual time. Pending waits share its state.
class timer final : public rpc::timer {
 public:
  timer(const world_ptr& world, const host_ptr& host);
  ~timer() override { cancel(); }
  awaitable<bool> wait_until(time_point when) override { return waiting(state_, when); }
  void cancel() noexcept override;

 private:
  struct state {
    world_ptr world;
    host_ptr host;
    sleeper waiter;
    event due;
    bool fired;
  };
  static awaitable<bool> waiting(std::shared_ptr<state> s, time_point when);

  std::shared_ptr<state> state_;
};

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/timer.ipp>
#endif
