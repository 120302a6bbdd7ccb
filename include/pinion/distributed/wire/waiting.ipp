// Bodies of <pinion/distributed/wire/waiting.hpp>.
#pragma once

#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void connect_and_wait(rpc::network& net, const std::shared_ptr<rpc::channel>& way, wait_options how) {
  if (way->up()) return;
  how.what = "waiting for " + way->title();
  const auto limit = how.until;
  if (how.until) *how.until += std::chrono::milliseconds(500);  // the channel's own error says more
  wait_for<void>(net, how, [&](auto done) { way->connect(limit, done); });
}

PINION_DECL void reach(rpc::network& net, const std::shared_ptr<rpc::channel>& way, rpc::duration soon,
                       std::string_view task, wait_options how) {
  try {
    how.until = net.now() + soon;
    connect_and_wait(net, way, std::move(how));
  } catch (const error& e) {
    if (e.code() != errc::deadline_exceeded) throw;
    throw error(errc::unavailable, e.sentence()).in_task(task);
  }
}

}}}  // namespace pinion::v0::distributed
