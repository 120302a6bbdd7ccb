// Events of nodes that run, for the trace of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <pinion/device/device.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/runtime/step/step_tracer.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

inline std::int64_t bytes_of(std::span<const any_tensor> values) {
  std::size_t sum = 0;
  for (const any_tensor& v : values)
    if (!v.empty()) sum += v.bytes();
  return static_cast<std::int64_t>(sum);
}

inline trace_event event_of(const node& n, const devices::device& on) {
  trace_event e{.node = n.name, .op = n.op, .device = on.name()};
  e.thread = step_tracer::this_thread();
  return e;
}

// The event of a node that computes.
inline trace_event event_of(const node& n, const devices::device& on, std::span<const any_tensor> inputs) {
  trace_event e = event_of(n, on);
  e.read = bytes_of(inputs);
  e.fused = op::fused_operations(n);
  return e;
}

}}}}  // namespace pinion::v0::runtime::detail
