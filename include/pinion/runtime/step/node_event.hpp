// Events of nodes that run, for the trace of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <pinion/device/device.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/kernel.hpp>
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

// The end of a node that has thrown: its step fails by it, or was failed before and has cut it off.
inline trace_event::ended_t how_it_failed(const step_watch& watch) {
  return watch.failed() ? trace_event::cut_off : trace_event::failed;
}

}}}}  // namespace pinion::v0::runtime::detail
