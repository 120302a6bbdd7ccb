#include "json.hpp"

#include <nlohmann/json.hpp>

#include <pinion/distributed/report/limits.hpp>

namespace {

using json = nlohmann::ordered_json;

json of(const pinion::task_status& t);

json of(const pinion::step_report& s) {
  return {{"ended", s.ended}, {"failed", s.failed}, {"running", s.running}, {"per_second", s.per_second}};
}
json of(const pinion::device_report& d) {
  return {{"name", d.name},
          {"description", d.description},
          {"memory_used", d.memory_used},
          {"memory_limit", d.memory_limit},
          {"memory_is_limited", d.memory_is_limited}};
}
json of(const pinion::variable_report& v) {
  return {{"name", v.name},
          {"container", v.container},
          {"device", v.device},
          {"dtype", to_string(v.dtype)},
          {"shape", to_string(v.shape)},
          {"bytes", v.bytes}};
}
json of(const pinion::queue_report& q) {
  return {{"name", q.name}, {"container", q.container}, {"kind", q.kind},
          {"size", q.size}, {"capacity", q.capacity},   {"closed", q.closed}};
}
json of(const pinion::session_report& s) {
  return {{"number", s.number}, {"owner", s.owner},   {"age", s.age},
          {"quiet", s.quiet},   {"memory", s.memory}, {"steps", of(s.steps)}};
}
json of(const pinion::run_report& r) {
  return {{"master", r.master}, {"step", r.step}, {"age", r.age}, {"computes", r.computes}, {"waits_for", r.waits_for}};
}
json of(const pinion::peer_report& p) {
  return {{"name", p.name},       {"address", p.address}, {"state", p.state},
          {"silence", p.silence}, {"why", p.why},         {"values_by", p.values_by}};
}
json of(const pinion::client_report& c) {
  return {{"address", c.address},
          {"task", c.task},
          {"silence", c.silence},
          {"connections", c.connections},
          {"runs", c.runs},
          {"sessions", c.sessions},
          {"bytes_received", c.bytes_received},
          {"bytes_waiting", c.bytes_waiting},
          {"slabs", c.slabs},
          {"slab_bytes", c.slab_bytes},
          {"bytes_lent", c.bytes_lent}};
}
json of(const pinion::failure_report& f) {
  return {{"time", f.time}, {"times", f.times}, {"sentence", f.sentence}};
}
json of(const pinion::pool_report& p) {
  return {{"threads", p.threads}, {"spares", p.spares}, {"queued", p.queued}};
}
json of(const pinion::backlog_report& b) {
  return {{"clients", b.clients},
          {"metrics_clients", b.metrics_clients},
          {"bytes_waiting", b.bytes_waiting},
          {"bytes_received", b.bytes_received},
          {"values_offered", b.values_offered},
          {"values_early", b.values_early},
          {"graphs_kept", b.graphs_kept},
          {"parts_unsettled", b.parts_unsettled},
          {"tasks_sought", b.tasks_sought},
          {"lines_untold", b.lines_untold}};
}
json of(const pinion::descriptor_report& d) {
  return {{"open", d.open}, {"limit", d.limit}};
}
json of(const pinion::shared_memory_report& s) {
  return {
      {"connections", s.connections}, {"slabs", s.slabs}, {"slab_bytes", s.slab_bytes}, {"bytes_lent", s.bytes_lent}};
}
json of(const pinion::traffic_counts& t) {
  return {{"bytes_sent", t.bytes_sent},       {"bytes_received", t.bytes_received},
          {"messages_sent", t.messages_sent}, {"messages_received", t.messages_received},
          {"requests", t.requests},           {"writes", t.writes}};
}
json of(const pinion::server_limits& l) {
  json all;
  pinion::distributed::for_each_limit(l, [&](const char* name, auto most) { all[name] = most; });
  return all;
}

template <class Row>
json list(const std::vector<Row>& rows) {
  json all = json::array();
  for (const Row& row : rows) all.push_back(of(row));
  return all;
}

json of(const pinion::task_report& r) {
  return {{"name", r.name},
          {"address", r.address},
          {"version", r.version},
          {"state", r.state},
          {"incarnation", std::to_string(r.incarnation)},  // readers of JSON may round so large a number
          {"process", r.process},
          {"uptime", r.uptime},
          {"steps", of(r.steps)},
          {"parts", of(r.parts)},
          {"devices", list(r.devices)},
          {"variable_count", r.variable_count},
          {"variable_bytes", r.variable_bytes},
          {"variables", list(r.variables)},
          {"queues", list(r.queues)},
          {"sessions", list(r.sessions)},
          {"runs", list(r.runs)},
          {"peers", list(r.peers)},
          {"clients", list(r.clients)},
          {"failures", list(r.failures)},
          {"pool", of(r.pool)},
          {"backlog", of(r.backlog)},
          {"descriptors", of(r.descriptors)},
          {"shared", of(r.shared)},
          {"traffic", of(r.traffic)},
          {"limits", of(r.limits)}};
}
json of(const pinion::task_status& t) {
  return {{"name", t.name}, {"address", t.address}, {"why", t.why}, {"report", t.report ? of(*t.report) : json()}};
}

}  // namespace

std::string status::json_of(const pinion::cluster_report& what, bool indented) {
  return json{{"tasks", list(what.tasks)}}.dump(indented ? 2 : -1, ' ', false, json::error_handler_t::replace);
}
