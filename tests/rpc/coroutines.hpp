// Coroutines that a test starts on a network, and what became of them.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <pinion/netsim/sim_network.hpp>
#include <pinion/rpc/transport/network.hpp>

#include <support/caught.hpp>
#include <support/dice.hpp>

namespace pinion_tests {

using namespace pinion;
using namespace pinion::rpc;
using pinion::netsim::sim_network, pinion::netsim::sim_options;

// What became of a coroutine.
struct outcome_of {
  countdown ended{1};
  std::exception_ptr thrown;
  bool done() const { return ended.done(); }
  std::string text() const {
    if (!done()) return "not done";
    return failure([this] {
      if (thrown) std::rethrow_exception(thrown);
    });
  }
};
inline const std::string well = "internal: nothing was thrown";
inline const time_point never = time_point::max();

inline awaitable<void> watch(awaitable<void> body, std::shared_ptr<outcome_of> result) {
  try {
    co_await std::move(body);
  } catch (...) {
    result->thrown = std::current_exception();
  }
  result->ended.count_down();
}
inline std::shared_ptr<outcome_of> start(network& net, awaitable<void> body) {
  const auto result = std::make_shared<outcome_of>();
  net.spawn(watch(std::move(body), result));
  return result;
}
inline void run(network& net, awaitable<void> body) {
  const auto result = start(net, std::move(body));
  net.wait(result->ended, {});
  if (result->thrown) std::rethrow_exception(result->thrown);
}

inline awaitable<void> sleep_until(network& net, time_point when) {
  const auto timer = net.make_timer();
  co_await timer->wait_until(when);
}
// Something that happens while the test waits for something else.
inline awaitable<void> happening(network& net, time_point when, std::function<void()> what) {
  co_await sleep_until(net, when);
  what();
}
inline void after(network& net, duration time, std::function<void()> what) {
  net.spawn(happening(net, net.now() + time, std::move(what)));
}

}  // namespace pinion_tests
