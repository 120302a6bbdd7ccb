// Bodies of <pinion/placement/plan/plan.hpp>: the plan as json.
#pragma once

#include <string>

#include <pinion/base/json_text.hpp>
#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string plan::to_json() const {
  const auto text = [](const std::string& s) { return json_quoted(s); };
  std::size_t d = 0;
  const auto device = [&](const device_info& info) {
    const device_total t = d < totals().size() ? totals()[d] : device_total{};
    ++d;
    return fmt::format(
        "{{\"name\": {}, \"description\": {}, \"memory_limit\": {}, \"nodes\": {}, \"variable_bytes\": {}, "
        "\"seconds\": {}, \"peak_bytes\": {}}}",
        json_quoted(info.name), json_quoted(info.description), info.memory_limit, t.nodes, t.variables, t.seconds,
        t.peak);
  };
  const auto node = [&](const placed_node& n) {
    return fmt::format(
        "{{\"name\": {}, \"op\": {}, \"device\": {}, \"requested\": {}, \"reason\": {}, \"fallback\": {}, \"refused\": "
        "{}, "
        "\"location\": {}, \"bytes_in\": {}, \"bytes_out\": {}, \"variable_bytes\": {}, \"starts\": {}, \"ends\": {}, "
        "\"optimized\": {}, \"runs\": {}, \"kernel\": {}, \"unrecorded\": {}}}",
        json_quoted(n.name), json_quoted(n.op), json_quoted(n.device), json_quoted(n.requested), json_quoted(n.reason),
        n.fallback, json_list(n.refused, text), json_quoted(n.location), n.bytes_in, n.bytes_out, n.state, n.starts,
        n.ends, json_quoted(n.optimized), n.runs, json_quoted(n.kernel), json_quoted(n.unrecorded));
  };
  const auto transfer = [&](const planned_transfer& t) {
    return fmt::format("{{\"value\": {}, \"from\": {}, \"to\": {}, \"bytes\": {}}}", json_quoted(t.value),
                       json_quoted(devices_[static_cast<std::size_t>(t.from)].name),
                       json_quoted(devices_[static_cast<std::size_t>(t.to)].name), t.bytes);
  };
  return fmt::format(
      "{{\n \"mode\": \"{}\",\n \"makespan\": {},\n \"devices\": {},\n \"nodes\": {},\n \"transfers\": {},\n "
      "\"notes\": "
      "{}\n}}\n",
      allows_fallback() ? "fallback" : "strict", makespan(), json_list(devices_, device), json_list(nodes_, node),
      json_list(transfers(), transfer), json_list(notes(), text));
}

}}  // namespace pinion::v0
