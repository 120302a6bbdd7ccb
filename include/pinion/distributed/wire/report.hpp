// The wire form of reports.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/distributed/report/limits.hpp>
#include <pinion/distributed/report/task_report.hpp>
#include <pinion/distributed/wire/values.hpp>

namespace pinion { inline namespace v0 {

template <class A>
void serialize(A& a, step_report& s) {
  a(s.ended, s.failed, s.running, s.per_second);
}
template <class A>
void serialize(A& a, device_report& d) {
  a(d.name, d.description, d.memory_used, d.memory_limit, d.memory_is_limited);
}
template <class A>
void serialize(A& a, variable_report& v) {
  a(v.name, v.container, v.device, v.dtype, v.shape, v.bytes);
}
template <class A>
void serialize(A& a, queue_report& q) {
  a(q.name, q.container, q.kind, q.size, q.capacity, q.closed);
}
template <class A>
void serialize(A& a, session_report& s) {
  a(s.number, s.owner, s.age, s.quiet, s.memory, s.steps);
}
template <class A>
void serialize(A& a, run_report& r) {
  a(r.master, r.step, r.age, r.computes, r.waits_for);
}
template <class A>
void serialize(A& a, peer_report& p) {
  a(p.name, p.address, p.state, p.silence, p.why, p.values_by);
}
template <class A>
void serialize(A& a, failure_report& f) {
  a(f.time, f.times, f.sentence);
}
template <class A>
void serialize(A& a, pool_report& p) {
  a(p.threads, p.spares, p.queued);
}
template <class A>
void serialize(A& a, backlog_report& b) {
  a(b.clients, b.metrics_clients, b.bytes_waiting, b.bytes_received, b.values_offered, b.values_early, b.graphs_kept,
    b.parts_unsettled, b.tasks_sought, b.lines_untold);
}
template <class A>
void serialize(A& a, client_report& c) {
  a(c.address, c.task, c.silence, c.connections, c.runs, c.sessions, c.bytes_received, c.bytes_waiting, c.slabs,
    c.slab_bytes, c.bytes_lent);
}
template <class A>
void serialize(A& a, descriptor_report& d) {
  a(d.open, d.limit);
}
template <class A>
void serialize(A& a, shared_memory_report& s) {
  a(s.connections, s.slabs, s.slab_bytes, s.bytes_lent);
}
template <class A>
void serialize(A& a, traffic_counts& t) {
  a(t.bytes_sent, t.bytes_received, t.messages_sent, t.messages_received, t.requests, t.writes);
}
template <class A>
void serialize(A& a, server_limits& l) {
  distributed::for_each_limit(l, [&](const char*, auto& limit) { a(limit); });
}
template <class A>
void serialize(A& a, task_report& t) {
  a(t.name, t.address, t.version, t.state, t.incarnation, t.process, t.uptime, t.steps, t.parts, t.devices,
    t.variable_count, t.variable_bytes, t.variables, t.queues, t.sessions, t.runs, t.peers, t.clients, t.failures,
    t.pool, t.backlog, t.descriptors, t.shared, t.traffic, t.limits);
}

}}  // namespace pinion::v0
