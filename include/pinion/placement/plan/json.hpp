// A plan as JSON. Written here rather than by a library: the form is fixed, and building graphs needs only fmt.
#pragma once

#include <string>
#include <string_view>

#include <pinion/placement/plan/plan.hpp>

namespace pinion::inline v0 {

#if PINION_DEFINE_GRAPH
namespace detail {

// A JSON string; "<" is escaped too, so that it may stand in a page.
inline std::string json_quoted(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      s += std::string("\\") + c;
    else if (byte < 0x20 || c == '<' || c == 0x7f)
      s += fmt::format("\\u{:04x}", byte);
    else
      s += c;
  }
  return s + "\"";
}

template <class Items, class Write>
std::string json_list(const Items& items, const Write& write) {
  std::string s = "[";
  for (const auto& item : items) s += (s.size() > 1 ? ",\n  " : "\n  ") + write(item);
  return s + (s.size() > 1 ? "\n ]" : "]");
}

}  // namespace detail

PINION_DECL std::string plan::to_json() const {
  using detail::json_quoted;
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
        "\"location\": {}, \"bytes_in\": {}, \"bytes_out\": {}, \"variable_bytes\": {}, \"starts\": {}, \"ends\": {}}}",
        json_quoted(n.name), json_quoted(n.op), json_quoted(n.device), json_quoted(n.requested), json_quoted(n.reason),
        n.fallback, detail::json_list(n.refused, text), json_quoted(n.location), n.bytes_in, n.bytes_out, n.state,
        n.starts, n.ends);
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
      allows_fallback() ? "fallback" : "strict", makespan(), detail::json_list(devices_, device),
      detail::json_list(nodes_, node), detail::json_list(transfers(), transfer), detail::json_list(notes(), text));
}
#endif

}  // namespace pinion::inline v0
