// Bodies of <pinion/runtime/step/step_trace.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/runtime/step/step_trace.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void step_trace::merge(step_trace part, std::int64_t begin, std::int64_t end) {
  left_out += part.left_out;
  if (part.events.empty()) return;
  std::int64_t first = part.events[0].start, last = first;
  for (const trace_event& e : part.events) {
    first = std::min(first, e.start);
    last = std::max(last, e.start + e.duration);
  }
  const std::int64_t shift = std::max(begin - first, std::min<std::int64_t>(0, end - last));
  for (trace_event& e : part.events) {
    e.start += shift;
    events.push_back(std::move(e));
  }
}

}}  // namespace pinion::v0
