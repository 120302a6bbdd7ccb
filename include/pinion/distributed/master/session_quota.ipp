// Bodies of <pinion/distributed/master/session_quota.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/distributed/master/session_quota.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void session_quota::take_nodes(std::int64_t nodes, std::uint64_t memory) {
  if (nodes_ + nodes > limits_.nodes)
    throw error(errc::resource_exhausted, "the graph of a session has at most " + std::to_string(limits_.nodes) +
                                              " nodes in " + task_ +
                                              ", those of bodies among them (server_config.limits.nodes)");
  expect_memory(memory);
  nodes_ += nodes;
}

PINION_DECL void session_quota::expect_room_for_step(std::size_t steps, std::uint64_t memory) const {
  if (steps >= static_cast<std::size_t>(limits_.steps))
    throw error(errc::resource_exhausted, "a session has at most " + std::to_string(limits_.steps) + " steps in " +
                                              task_ + " (server_config.limits.steps)");
  expect_memory(memory);
}

PINION_DECL void session_quota::expect_memory(std::uint64_t more) const {
  const auto expect = [&](std::uint64_t taken, std::uint64_t most, const std::string& whose, const std::string& limit) {
    if (taken + more > most)
      throw error(errc::resource_exhausted, "the graph and the steps of " + whose + " take at most " +
                                                std::to_string(most) + " bytes of memory in " + task_ +
                                                ", as estimated (server_config.limits." + limit + ")");
  };
  expect(memory_, limits_.session_bytes, "a session", "session_bytes");
  expect(*of_all_, limits_.session_bytes_of_all, "all sessions", "session_bytes_of_all");
}

PINION_DECL void session_quota::take(std::uint64_t memory) {
  memory_ += memory;
  if (limited_) *of_all_ += memory;
}

PINION_DECL void session_quota::give_back(std::uint64_t memory) {
  memory_ -= memory;
  if (limited_) *of_all_ -= memory;
}

}}}  // namespace pinion::v0::distributed
