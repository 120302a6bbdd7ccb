// Bodies of <pinion/distributed/status/metrics_text.hpp>.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/harmless.hpp>
#include <pinion/distributed/status/metrics_text.hpp>

namespace pinion { inline namespace v0 {

namespace distributed { namespace detail {

// Families of samples as lines.
class exposition {
 public:
  using labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Begins a family.
  exposition& gauge(std::string_view name, std::string_view help) { return family(name, help, "gauge"); }
  exposition& counter(std::string_view name, std::string_view help) { return family(name, help, "counter"); }
  // Adds a sample to the family.
  template <class Number>
  exposition& is(Number value, const labels& of = {}) {
    text_ += name_;
    for (std::size_t i = 0; i < of.size(); ++i)
      text_ += fmt::format("{}{}=\"{}\"", i == 0 ? '{' : ',', of[i].first, escaped(of[i].second));
    text_ += fmt::format("{} {}\n", of.empty() ? "" : "}", value);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  exposition& family(std::string_view name, std::string_view help, std::string_view type) {
    name_ = fmt::format("pinion_{}", name);
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
    return *this;
  }
  static std::string escaped(std::string_view text) {
    std::string all;
    for (const char c : harmless(text)) {
      if (c == '"' || c == '\\') all += '\\';
      all += c;
    }
    return all;
  }

  std::string name_, text_;
};

inline void tell_steps(exposition& out, const task_report& r) {
  out.counter("steps_total", "Steps of the sessions that target this task.").is(r.steps.ended);
  out.counter("steps_failed_total", "Those of them that failed.").is(r.steps.failed);
  out.counter("parts_total", "Parts of steps that this task has computed, for sessions of any task.").is(r.parts.ended);
  out.counter("parts_failed_total", "Those of them that failed.").is(r.parts.failed);
  out.gauge("parts_running", "Parts of steps under way.").is(r.parts.running);
  out.gauge("oldest_run_seconds", "Age of the oldest part under way.").is(r.runs.empty() ? 0.0 : r.runs.front().age);
  out.gauge("sessions", "Open sessions that target this task.").is(r.sessions.size());
}

inline void tell_state(exposition& out, const task_report& r) {
  out.gauge("variables", "Variables that this task keeps.").is(r.variable_count);
  out.gauge("variable_bytes", "Memory of their values.").is(r.variable_bytes);
  out.gauge("device_memory_bytes", "Memory of a device in use; CPU devices share theirs.");
  for (const auto& d : r.devices) out.is(d.memory_used, {{"device", d.name}});
  out.gauge("device_memory_limit_bytes", "Memory that a device has, where it is limited.");
  for (const auto& d : r.devices)
    if (d.memory_is_limited) out.is(d.memory_limit, {{"device", d.name}});
  const auto shown = std::min<std::size_t>(r.queues.size(), 100);
  out.gauge("queue_elements", "Elements in a queue.");
  for (std::size_t i = 0; i < shown; ++i)
    out.is(r.queues[i].size, {{"queue", r.queues[i].name}, {"container", r.queues[i].container}});
}

inline void tell_network(exposition& out, const task_report& r) {
  out.gauge("clients", "Connected clients, among them other tasks.").is(r.backlog.clients);
  out.gauge("unsent_bytes", "Answers that clients have not yet taken.").is(r.backlog.bytes_waiting);
  out.gauge("unserved_bytes", "Requests that are not worked off.").is(r.backlog.bytes_received);
  out.gauge("offered_values", "Values that wait until other tasks pull them.").is(r.backlog.values_offered);
  out.gauge("metrics_clients", "Connections to the HTTP server of these metrics.").is(r.backlog.metrics_clients);
  out.gauge("open_descriptors", "Descriptors of the process that are open.").is(r.descriptors.open);
  out.gauge("descriptor_limit", "Descriptors that the system gives the process.").is(r.descriptors.limit);
  out.gauge("untold_log_lines", "Lines of the log that are held back, to be told in sum.").is(r.backlog.lines_untold);
  out.gauge("shared_connections", "Connections of this host that share memory.").is(r.shared.connections);
  out.gauge("slabs", "Slabs of memory of other processes that are mapped.").is(r.shared.slabs);
  out.gauge("slab_bytes", "Their bytes of address space.").is(r.shared.slab_bytes);
  out.gauge("bytes_lent", "Bytes of values that others of this host are lent.").is(r.shared.bytes_lent);
  out.gauge("unsettled_parts", "Parts that have ended, and hold what they took from queues until their runs have.")
      .is(r.backlog.parts_unsettled);
  out.gauge("sought_tasks", "Tasks of which others have told, and which are not found so far.")
      .is(r.backlog.tasks_sought);
  out.counter("sent_bytes_total", "Bytes sent.").is(r.traffic.bytes_sent);
  out.counter("received_bytes_total", "Bytes received.").is(r.traffic.bytes_received);
  out.counter("sent_messages_total", "Messages sent.").is(r.traffic.messages_sent);
  out.counter("received_messages_total", "Messages received.").is(r.traffic.messages_received);
  out.counter("sent_requests_total", "Requests sent, each a round trip.").is(r.traffic.requests);
  out.gauge("peer_up", "1 if another task runs, 0 if it has ended or was lost.");
  for (const auto& p : r.peers)
    if (p.state != "joining") out.is(p.state == "running" ? 1 : 0, {{"peer", p.name}});
  out.gauge("peer_silence_seconds", "Time since a peer was last heard.");
  for (const auto& p : r.peers)
    if (p.state == "running") out.is(p.silence, {{"peer", p.name}});
}

}}  // namespace distributed::detail

PINION_DECL std::string metrics_text(const task_report& of) {
  distributed::detail::exposition out;
  out.gauge("info", "The task, its version and its life.")
      .is(1, {{"task", of.name}, {"version", of.version}, {"incarnation", std::to_string(of.incarnation)}});
  out.gauge("running", "1 while the task takes work, 0 when it is being stopped.").is(of.state == "running" ? 1 : 0);
  out.gauge("uptime_seconds", "Time since the task began to serve.").is(of.uptime);
  out.gauge("pool_threads", "Threads that compute.").is(of.pool.threads + of.pool.spares);
  out.gauge("pool_queued", "Pieces of work that wait for a thread.").is(of.pool.queued);
  distributed::detail::tell_steps(out, of);
  distributed::detail::tell_state(out, of);
  distributed::detail::tell_network(out, of);
  return out.take();
}

}}  // namespace pinion::v0
