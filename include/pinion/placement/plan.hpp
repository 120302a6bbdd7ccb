// A plan: where every node goes, and why. A value that can be read before anything runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <pinion/graph/graph.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion::inline v0 {

// A device as a placer sees it.
struct device_info {
  device_spec spec;
  std::string name;
  std::int64_t memory_limit = 0;
  std::string description;  // empty for a CPU
};

// One node of a plan.
struct placed_node {
  node_id id = no_node;
  std::string name = {}, op = {};
  std::string requested = {};             // as guards and policies gathered it; "" when nobody asked
  std::string device = {};                // where it goes
  int device_index = -1;                  // in the plan's devices
  std::string reason = {};                // "pinned by guard at model.cpp:12", "only kernel", "with W", ...
  std::vector<std::string> refused = {};  // candidates that were not taken, each with why
  bool fallback = false;                  // soft placement moved it
  std::string location = {};              // file:line that made it
  std::int64_t bytes_out = 0;             // of outputs whose shapes are known
};

// The nodes that some fetches need, in the order in which they were made, each with its device. A value.
class plan {
 public:
  plan() = default;
  plan(std::vector<device_info> devices, std::vector<placed_node> nodes)
      : devices_(std::move(devices)), nodes_(std::move(nodes)) {}

  const std::vector<device_info>& devices() const { return devices_; }
  const std::vector<placed_node>& nodes() const { return nodes_; }
  const placed_node* find(std::string_view name) const {
    const auto at = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.name == name; });
    return at == nodes_.end() ? nullptr : &*at;
  }
  // The full device name of a node; not_found where the plan does not hold it.
  const std::string& device_of(std::string_view name) const {
    const placed_node* n = find(name);
    if (!n)
      throw error(errc::not_found, "the plan holds no node '" + std::string(name) + "'; only what its fetches need");
    return n->device;
  }
  // The nodes that soft placement moved away from where they were asked to be.
  std::vector<placed_node> fallbacks() const {
    std::vector<placed_node> moved;
    for (const auto& n : nodes_)
      if (n.fallback) moved.push_back(n);
    return moved;
  }

 private:
  std::vector<device_info> devices_;
  std::vector<placed_node> nodes_;
};

namespace detail {

// Text cells lined up in columns.
inline std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}", row[i], i + 1 < row.size() ? widths[i] + 2 : 0);
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace detail

// An aligned table: node, op, device, reason; then what was moved.
inline std::string to_string(const plan& p) {
  std::vector<std::vector<std::string>> rows{{"node", "op", "device", "reason"}};
  for (const auto& n : p.nodes()) rows.push_back({n.name, n.op, n.device, n.reason});
  std::string text = detail::aligned(rows);
  text.pop_back();
  return text;
}

}  // namespace pinion::inline v0

template <>
struct fmt::formatter<pinion::plan> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const pinion::plan& p, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(to_string(p), context);
  }
};
