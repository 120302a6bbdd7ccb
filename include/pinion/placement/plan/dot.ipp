// Bodies of <pinion/placement/plan/plan.hpp>: the plan as dot.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

inline std::string dot_quoted(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c == '\n' ? ' ' : c;
  }
  return s + "\"";
}

}  // namespace detail

PINION_DECL std::string plan::to_dot() const {
  using detail::dot_quoted;
  // task -> device -> nodes
  std::map<std::string, std::map<std::string, std::vector<const placed_node*>>> tasks;
  for (const auto& n : nodes_)
    if (n.runs) tasks[std::string(task_of_device(n.device))][n.device].push_back(&n);
  std::string text = "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n";
  int cluster = 0;
  for (const auto& [task, devices] : tasks) {
    text += fmt::format("  subgraph cluster_{} {{\n    label={};\n    style=rounded;\n", cluster++, dot_quoted(task));
    for (const auto& [device, own] : devices) {
      text += fmt::format("    subgraph cluster_{} {{\n      label={};\n      style=filled; fillcolor={};\n", cluster++,
                          dot_quoted(device.substr(task.size())),
                          device.find("/device:CPU:") == device.npos ? "\"#d7f0d8\"" : "\"#dbe8f8\"");
      for (const placed_node* n : own)
        text +=
            fmt::format("      {} [label={}, tooltip={}];\n", dot_quoted(n->name),
                        dot_quoted(n->name == n->op ? n->name : n->name + " (" + n->op + ")"), dot_quoted(n->reason));
      text += "    }\n";
    }
    text += "  }\n";
  }
  for (const auto& e : figures_.edges) {
    const placed_node &from = nodes_[e.from], &to = nodes_[e.to];
    text += fmt::format("  {} -> {}", dot_quoted(from.name), dot_quoted(to.name));
    std::string style = e.control ? "style=dashed" : "";
    if (from.device_index != to.device_index)
      style += (style.empty() ? "" : ", ") + fmt::format("penwidth=3, color=\"#b04030\", label=\"{} B\"", e.bytes);
    text += style.empty() ? ";\n" : " [" + style + "];\n";
  }
  return text + "}\n";
}

}}  // namespace pinion::v0
