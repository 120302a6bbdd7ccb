// Bodies of <pinion/runtime/step/step_trace.hpp>.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::int64_t step_trace::peak(const std::string& device) const {
  const device_spec wanted = parse_device(device);
  const auto is_wanted = [&](const device_spec& one) { return pinion::merge(one, wanted) == one; };
  std::int64_t most = 0;
  for (const memory_sample& m : memory)
    if (m.bytes > most && is_wanted(parse_device(m.device))) most = m.bytes;
  return most;
}

PINION_DECL void step_trace::merge(step_trace part, std::int64_t begin, std::int64_t end) {
  left_out += part.left_out;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const trace_event& e : part.events) {
    first = std::min(first, e.start);
    last = std::max(last, e.start + e.duration);
  }
  for (const memory_sample& m : part.memory) {
    first = std::min(first, m.time);
    last = std::max(last, m.time);
  }
  const std::int64_t shift = std::max(begin - first, std::min<std::int64_t>(0, end - last));
  for (trace_event& e : part.events) {
    e.start += shift;
    events.push_back(std::move(e));
  }
  for (memory_sample& m : part.memory) {
    m.time += shift;
    memory.push_back(std::move(m));
  }
}

}}  // namespace pinion::v0
