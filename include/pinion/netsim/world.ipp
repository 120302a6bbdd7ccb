// Bodies of <pinion/netsim/world.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/error.hpp>
#include <pinion/netsim/world.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL std::uint64_t world::below(std::uint64_t bound) {
  std::uint64_t z = chance += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % bound;
}

PINION_DECL duration world::latency() {
  const auto range = static_cast<std::uint64_t>((options.max_latency - options.min_latency).count());
  return options.min_latency + duration(below(range + 1));
}

PINION_DECL event world::at(time_point when, std::function<void()> what) {
  if (ended || when == time_point::max()) return {};
  return events.emplace(std::pair(std::max(when, now), ++numbered), std::move(what)).first->first;
}

PINION_DECL void world::drop(event& event) {
  if (event) events.erase(*event);
  event.reset();
}

PINION_DECL std::uint64_t world::sleep(std::function<void()> resume) {
  asleep.emplace(++numbered, std::move(resume));
  return numbered;
}

PINION_DECL void world::wake(std::uint64_t sleeper, host& host) {
  auto found = asleep.extract(sleeper);
  if (found && host.frozen) host.late.push_back(std::move(found.mapped()));
  if (found && !host.frozen) post(std::move(found.mapped()));
}

PINION_DECL void world::wake_late(host& host) {
  host.frozen = false;
  for (auto& resume : std::exchange(host.late, {})) post(std::move(resume));
}

PINION_DECL void world::post(std::function<void()> what) {
  ready = true;
  asio::post(context, std::move(what));
}

PINION_DECL world::ending world::pump(const std::function<bool()>& done, std::optional<time_point> deadline) {
  if (std::exchange(pumping, true))
    throw error(errc::internal, "what the simulated network runs must not wait for the simulated network");
  const std::unique_ptr<bool, void (*)(bool*)> leave(&pumping, [](bool* flag) { *flag = false; });
  while (true) {
    context.restart();
    while (!done() && context.poll_one() > 0) continue;
    if (done()) return ending::done;
    ready = false;
    if (events.empty()) return ending::idle;
    const time_point when = events.begin()->first.first;
    if (deadline && *deadline < when) {
      now = std::max(now, *deadline);
      return ending::late;
    }
    now = std::max(now, when);
    events.extract(events.begin()).mapped()();
  }
}

PINION_DECL void world::end() {
  ended = true;
  const auto never = std::exchange(events, {});
  const auto closing = std::exchange(listeners, {});
  for (const auto& named : hosts) named.second->late.clear();
  asleep.clear();  // posts the destruction of the coroutines
  context.end();
}

}}}  // namespace pinion::v0::netsim
