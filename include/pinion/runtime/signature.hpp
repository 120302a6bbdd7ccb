// What a step is asked for: the key under which it is compiled and kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <pinion/graph/node.hpp>

namespace pinion::inline v0::runtime {

struct step_signature {
  std::vector<output> feeds;
  std::vector<output> fetches;
  std::vector<node_id> targets;
  std::vector<std::string> feed_devices = {};  // on which device each feed lies; "", or none at all: on the host
  friend bool operator==(const step_signature&, const step_signature&) = default;
};

struct signature_hash {
  std::size_t operator()(const step_signature& s) const {
    std::uint64_t h = 14695981039346656037ull;
    const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 1099511628211ull; };
    for (const auto& o : s.feeds) mix(std::uint64_t(std::uint32_t(o.node)) << 8 | std::uint64_t(o.index));
    mix(0xfeed);
    for (const auto& o : s.fetches) mix(std::uint64_t(std::uint32_t(o.node)) << 8 | std::uint64_t(o.index));
    mix(0xfe7c4);
    for (node_id t : s.targets) mix(std::uint64_t(std::uint32_t(t)));
    for (const auto& d : s.feed_devices) mix(std::hash<std::string>()(d));
    return static_cast<std::size_t>(h);
  }
};

}  // namespace pinion::inline v0::runtime
