// The wire form of steps: signatures, plans, partitions and traces.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/placement/plan/plan.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/signature.hpp>
#include <pinion/runtime/step/step_trace.hpp>

namespace pinion { inline namespace v0 {

template <class A>
void serialize(A& a, device_info& d) {
  a(d.spec, d.name, d.memory_limit, d.memory_is_limited, d.no_gpus, d.is_cuda, d.libraries, d.description,
    d.speed.flops, d.speed.memory_bandwidth, d.speed.launch, d.lacks);
}
template <class A>
void serialize(A& a, placed_node& n) {
  a(n.id, n.name, n.op, n.requested, n.device, n.device_index, n.reason, n.refused, n.fallback, n.location, n.bytes_in,
    n.bytes_out, n.state, n.starts, n.ends, n.optimized, n.runs, n.kernel, n.unrecorded);
}
template <class A>
void serialize(A& a, device_total& t) {
  a(t.nodes, t.variables, t.seconds, t.peak);
}
template <class A>
void serialize(A& a, planned_transfer& t) {
  a(t.value, t.from, t.to, t.bytes);
}
template <class A>
void serialize(A& a, planned_edge& e) {
  a(e.from, e.to, e.bytes, e.control);
}
void save(rpc::writer& a, const plan& p);
void load(rpc::reader& a, plan& p);

namespace detail {
// Refuses times so long that sums of them would overflow.
void check_times(rpc::reader& a, std::int64_t start, std::int64_t duration);
inline void check_times(rpc::writer&, std::int64_t, std::int64_t) {}
}  // namespace detail

template <class A>
void save(A& a, const transfer_key& key) {
  a(key.text());
}
template <class A>
void load(A& a, transfer_key& key) {
  std::string text;
  a(text);
  key = transfer_key(std::move(text));
}

template <class A>
void serialize(A& a, trace_event& e) {
  rpc::choice(a, e.kind, trace_event::receive, "kind of event");
  a(e.node, e.op, e.device, e.key, e.start, e.duration, e.bytes, e.read, e.thread, e.fused);
  rpc::choice(a, e.ended, trace_event::cut_off, "end of an event");
  detail::check_times(a, e.start, e.duration);
}
template <class A>
void serialize(A& a, memory_sample& m) {
  a(m.device, m.time, m.bytes);
  detail::check_times(a, m.time, 0);
}
template <class A>
void serialize(A& a, step_trace& t) {
  a(t.events, t.left_out, t.memory, t.failure);
}

namespace runtime {

template <class A>
void serialize(A& a, step_signature& s) {
  a(s.feeds, s.fetches, s.targets, s.check_values);
}

template <class A>
void serialize(A& a, part_item& it) {
  rpc::choice(a, it.kind, part_item::receive, "kind of item");
  a(it.node, it.index, it.key, it.peer, it.narrow, it.inputs, it.after, it.outputs, it.waits);
}
template <class A>
void serialize(A& a, partition& part) {
  a(part.device, part.items, part.check_values);
}

}  // namespace runtime

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/step.ipp>
#endif
