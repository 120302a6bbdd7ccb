// The wire form of steps: what is asked for, the plan, and the partitions.
#pragma once

#include <utility>
#include <vector>

#include <pinion/distributed/codec/graph.hpp>
#include <pinion/placement/plan.hpp>
#include <pinion/runtime/partition.hpp>
#include <pinion/runtime/signature.hpp>

namespace pinion::inline v0 {

template <class A>
void serialize(A& a, device_info& d) {
  a(d.spec, d.name, d.memory_limit, d.description);
}
template <class A>
void serialize(A& a, placed_node& n) {
  a(n.id, n.name, n.op, n.requested, n.device, n.device_index, n.reason, n.refused, n.fallback, n.location,
    n.bytes_out);
}
inline void save(rpc::writer& a, const plan& p) {
  a(p.devices(), p.nodes());
}
inline void load(rpc::reader& a, plan& p) {
  std::vector<device_info> devices;
  std::vector<placed_node> nodes;
  a(devices, nodes);
  p = plan(std::move(devices), std::move(nodes));
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
