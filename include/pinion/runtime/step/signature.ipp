// Bodies of <pinion/runtime/step/signature.hpp>.
#pragma once

#include <cstdint>
#include <functional>

#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL step_signature checking(step_signature s) {
  s.check_values = true;
  return s;
}

PINION_DECL std::size_t signature_hash::operator()(const step_signature& s) const {
  std::uint64_t h = 14695981039346656037ull;
  const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 1099511628211ull; };
  for (const auto& o : s.feeds) mix(std::uint64_t(std::uint32_t(o.node)) << 8 | std::uint64_t(o.index));
  mix(0xfeed);
  for (const auto& o : s.fetches) mix(std::uint64_t(std::uint32_t(o.node)) << 8 | std::uint64_t(o.index));
  mix(0xfe7c4);
  for (node_id t : s.targets) mix(std::uint64_t(std::uint32_t(t)));
  for (const auto& d : s.feed_devices) mix(std::hash<std::string>()(d));
  mix(std::uint64_t{s.check_values});
  return static_cast<std::size_t>(h);
}

}}}  // namespace pinion::v0::runtime
