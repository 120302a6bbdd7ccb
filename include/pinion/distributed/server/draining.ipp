// Bodies of <pinion/distributed/server/draining.hpp>.
#pragma once

#include <memory>
#include <utility>

#include <pinion/base/log.hpp>
#include <pinion/distributed/server/draining.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL draining::draining(const parts& of, std::string task) : of_(of), task_(std::move(task)) {
  of_.master.drain();
  of_.worker.drain();
}

PINION_DECL bool draining::wait(std::chrono::milliseconds grace) {
  const auto began = of_.net.now();
  bool said = false;
  for (std::string left = what_is_left(); !left.empty(); left = what_is_left()) {
    const auto waited = of_.net.now() - began;
    if (waited >= grace) {
      write_log(
          log_level::warning, task_,
          "was asked to stop, and " + left + " has not ended after " + rpc::seconds(waited) + " of grace: it fails");
      return false;
    }
    if (waited > std::chrono::seconds(1) && !std::exchange(said, true))
      write_log(log_level::info, task_, "is stopping, and waits up to " + rpc::seconds(grace) + " for " + left);
    countdown never;
    of_.net.wait(never, of_.net.now() + std::chrono::milliseconds(10));
  }
  return true;
}

PINION_DECL std::string draining::what_is_left() {
  constexpr auto at_most = std::chrono::seconds(1);  // with the network's thread, which takes microseconds
  const std::string runs = of_.worker.runs().names(), values = "what it has to send";
  if (!runs.empty()) return runs;
  if (of_.master.runs() > 0 || of_.values.count().offered > 0) return values;
  struct look {
    countdown done;
    bool arrived = false;
  };
  const auto shared = std::make_shared<look>();
  const bool first = !last_;
  if (first) last_ = std::make_shared<rpc::deliveries>();
  of_.net.post([shared, first, last = last_, of = of_] {
    if (first) of.acceptor.expect(*last), of.peers.expect(*last);
    shared->arrived = last->are_made();
    shared->done.count_down();
  });
  if (!of_.net.wait(shared->done, of_.net.now() + at_most)) return "what holds up the network's thread";
  return shared->arrived ? "" : values;
}

}}}  // namespace pinion::v0::distributed
