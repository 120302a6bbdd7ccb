// The wire form of steps: what is asked for, the plan, and the partitions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/codec/graph.hpp>
#include <pinion/placement/plan/plan.hpp>
#include <pinion/runtime/partition.hpp>
#include <pinion/runtime/signature.hpp>
#include <pinion/runtime/step_trace.hpp>

namespace pinion::inline v0 {

template <class A>
void serialize(A& a, device_info& d) {
  a(d.spec, d.name, d.memory_limit, d.memory_is_limited, d.description, d.speed.flops, d.speed.memory_bandwidth,
    d.speed.launch, d.lacks);
}
template <class A>
void serialize(A& a, placed_node& n) {
  a(n.id, n.name, n.op, n.requested, n.device, n.device_index, n.reason, n.refused, n.fallback, n.location, n.bytes_in,
    n.bytes_out, n.state, n.starts, n.ends);
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
inline void save(rpc::writer& a, const plan& p) {
  const plan_figures& f = p.figures();
  a(p.devices(), p.nodes(), f.soft, f.totals, f.transfers, f.edges, f.makespan, f.notes);
}
inline void load(rpc::reader& a, plan& p) {
  std::vector<device_info> devices;
  std::vector<placed_node> nodes;
  plan_figures f;
  a(devices, nodes, f.soft, f.totals, f.transfers, f.edges, f.makespan, f.notes);
  const auto device = [&](int d) { return d >= 0 && static_cast<std::size_t>(d) < devices.size(); };
  for (const auto& t : f.transfers)
    if (!device(t.from) || !device(t.to)) throw error(errc::data_loss, "a plan's transfer leads to no device of it");
  for (const auto& e : f.edges)
    if (e.from >= nodes.size() || e.to >= nodes.size())
      throw error(errc::data_loss, "a plan's edge leads to no node of it");
  p = plan(std::move(devices), std::move(nodes), std::move(f));
}

namespace detail {
template <class A, class Event>
void event_fields(A& a, Event& e) {
  a(e.node, e.op, e.device, e.key, e.start, e.duration, e.bytes);
}
}  // namespace detail

inline void save(rpc::writer& a, const trace_event& e) {
  rpc::save_choice(a, e.kind);
  detail::event_fields(a, e);
}
inline void load(rpc::reader& a, trace_event& e) {
  e.kind = rpc::load_choice(a, trace_event::receive, "kind of event");
  detail::event_fields(a, e);
  constexpr std::int64_t most = std::int64_t{1} << 61;  // so that sums do not overflow
  if (e.start < 0 || e.start > most || e.duration < 0 || e.duration > most)
    rpc::reader::refuse("a message holds an event of " + std::to_string(e.duration) + " ns at " +
                        std::to_string(e.start));
}
template <class A>
void serialize(A& a, step_trace& t) {
  a(t.events, t.left_out);
}

namespace runtime {

template <class A>
void serialize(A& a, step_signature& s) {
  a(s.feeds, s.fetches, s.targets);
}

namespace detail {
template <class A, class Item>
void item_fields(A& a, Item& it) {
  a(it.node, it.index, it.key, it.peer, it.inputs, it.after, it.outputs);
}
}  // namespace detail

inline void save(rpc::writer& a, const part_item& it) {
  rpc::save_choice(a, it.kind);
  detail::item_fields(a, it);
}
inline void load(rpc::reader& a, part_item& it) {
  it.kind = rpc::load_choice(a, part_item::receive, "kind of item");
  detail::item_fields(a, it);
}
template <class A>
void serialize(A& a, partition& part) {
  a(part.device, part.items);
}

}  // namespace runtime

}  // namespace pinion::inline v0
