// Bodies of <pinion/distributed/server/draining.hpp>.
#pragma once

#include <utility>

#include <pinion/base/log.hpp>
#include <pinion/distributed/server/draining.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL draining::draining(const parts& of, std::string task) : of_(of), task_(std::move(task)) {
  of_.master.drain();
  of_.worker.drain();
}

PINION_DECL bool draining::wait(std::chrono::milliseconds grace) const {
  const auto began = of_.net.now();
  for (bool said = false; !is_over();) {
    const auto waited = of_.net.now() - began;
    if (waited >= grace) {
      write_log(log_level::warning, task_,
                "was asked to stop, and " + what_is_left() + " has not ended after " + rpc::seconds(waited) +
                    " of grace: it fails");
      return false;
    }
    if (waited > std::chrono::seconds(1) && !std::exchange(said, true))
      write_log(log_level::info, task_,
                "is stopping, and waits up to " + rpc::seconds(grace) + " for " + what_is_left());
    countdown never;
    of_.net.wait(never, of_.net.now() + std::chrono::milliseconds(10));
  }
  return true;
}

PINION_DECL bool draining::is_over() const {
  if (of_.master.runs() > 0 || !of_.worker.names_of_runs().empty() || of_.values.offered() > 0) return false;
  countdown looked;
  bool arrived = false;
  of_.net.post([&] {
    arrived = of_.door.has_sent_all() && of_.peers.have_taken_all();
    looked.count_down();
  });
  of_.net.wait(looked, {});
  return arrived;
}

PINION_DECL std::string draining::what_is_left() const {
  const std::string runs = of_.worker.names_of_runs();
  return runs.empty() ? "what it has to send" : runs;
}

}}}  // namespace pinion::v0::distributed
