// A plan: where every node goes, and why. A value that can be read before anything runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/arithmetic.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/near_name.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion::inline v0 {

// One node of a plan. Times are estimates of a cost model, in seconds after the step begins.
struct placed_node {
  node_id id = no_node;
  std::string name = {}, op = {};
  std::string requested = {};                // as guards and policies gathered it; "" when nobody asked
  std::string device = {};                   // where it goes
  int device_index = -1;                     // in the plan's devices
  std::string reason = {};                   // "pinned by guard at model.cpp:12", "only kernel", "with W", ...
  std::vector<std::string> refused = {};     // candidates that were not taken, each with why
  bool fallback = false;                     // soft placement, or a variable it works on, moved it
  std::string location = {};                 // file:line that made it
  std::int64_t bytes_in = 0, bytes_out = 0;  // of values whose shapes are known
  std::int64_t state = 0;                    // bytes of a variable whose shape is known
  double starts = 0, ends = 0;
};

// What a device has to do in one step, as estimated.
struct device_total {
  int nodes = 0;
  std::int64_t variables = 0;  // bytes
  double seconds = 0;          // of work
  std::int64_t peak = 0;       // bytes: variables, and values until their last use
};

// A value that crosses from a device to another, once a step.
struct planned_transfer {
  std::string value;       // "W/read", "split:1"
  int from = -1, to = -1;  // in the plan's devices
  std::int64_t bytes = 0;  // as estimated
};

// An edge of the graph, between places in plan::nodes().
struct planned_edge {
  std::uint32_t from = 0, to = 0;
  std::int64_t bytes = 0;
  bool control = false;
};

// The part of a plan that is estimated, or about all of it.
struct plan_figures {
  bool soft = false;
  std::vector<device_total> totals = {};  // one for each device
  std::vector<planned_transfer> transfers = {};
  std::vector<planned_edge> edges = {};
  double makespan = 0;                  // seconds
  std::vector<std::string> notes = {};  // what a person should know beside the nodes
};

// The nodes that some fetches need, in the order in which they were made, each with its device. A value.
class plan {
 public:
  plan() = default;
  plan(std::vector<device_info> devices, std::vector<placed_node> nodes, plan_figures figures = {})
      : devices_(std::move(devices)), nodes_(std::move(nodes)), figures_(std::move(figures)) {
    figures_.totals.resize(devices_.size());
  }

  const std::vector<device_info>& devices() const { return devices_; }
  const std::vector<placed_node>& nodes() const { return nodes_; }
  const placed_node* find(std::string_view name) const {
    const auto at = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.name == name; });
    return at == nodes_.end() ? nullptr : &*at;
  }
  // The full device name of a node; not_found where the plan does not hold it.
  const std::string& device_of(std::string_view name) const {
    const placed_node* n = find(name);
    if (!n) refuse_name(name);
    return n->device;
  }
  // The nodes that were moved away from where they were asked to be, each with its reason.
  std::vector<placed_node> fallbacks() const {
    std::vector<placed_node> moved;
    for (const auto& n : nodes_)
      if (n.fallback) moved.push_back(n);
    return moved;
  }

  // Were requests that cannot be met to be loosened (fallback mode), or refused (strict)?
  bool allows_fallback() const { return figures_.soft; }
  // Estimates for one step, by the cost model that the plan was made with.
  const std::vector<device_total>& totals() const { return figures_.totals; }
  const std::vector<planned_transfer>& transfers() const { return figures_.transfers; }
  const std::vector<planned_edge>& edges() const { return figures_.edges; }
  double makespan() const { return figures_.makespan; }
  const std::vector<std::string>& notes() const { return figures_.notes; }
  const plan_figures& figures() const { return figures_; }
  void add_note(std::string note) { figures_.notes.push_back(std::move(note)); }

  // {"mode", "makespan", "devices": [...], "nodes": [...], "transfers": [...], "notes": [...]}.
  PINION_DECL std::string to_json() const;
  // Graphviz: a cluster for each task, in it one for each device; edges that cross are drawn thick.
  PINION_DECL std::string to_dot() const;
  // A page that stands alone: totals, a timeline, the nodes with their reasons, transfers, notes.
  PINION_DECL std::string to_html() const;

 private:
  [[noreturn]] PINION_DECL void refuse_name(std::string_view name) const;

  std::vector<device_info> devices_;
  std::vector<placed_node> nodes_;
  plan_figures figures_;
};

// An aligned table: node, op, device, reason; then the notes.
PINION_DECL std::string to_string(const plan& p);

// What a step would take, as an aligned table: a line for each device, then what crosses.
PINION_DECL std::string totals_table(const plan& p);

#if PINION_DEFINE_GRAPH
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

PINION_DECL void plan::refuse_name(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const placed_node& n : nodes_) names.push_back(n.name);
  throw error(errc::not_found, "the plan holds no node '" + std::string(name) + "'; only what its fetches need" +
                                   did_you_mean(name, names));
}

PINION_DECL std::string to_string(const plan& p) {
  std::vector<std::vector<std::string>> rows{{"node", "op", "device", "reason"}};
  for (const auto& n : p.nodes()) rows.push_back({n.name, n.op, n.device, n.reason});
  std::string text = detail::aligned(rows);
  for (const auto& note : p.notes()) text += "note: " + note + "\n";
  text.pop_back();
  return text;
}

PINION_DECL std::string totals_table(const plan& p) {
  std::vector<std::vector<std::string>> rows{{"device", "nodes", "variables", "work", "peak memory"}};
  for (std::size_t d = 0; d < p.totals().size(); ++d) {
    const device_total& t = p.totals()[d];
    rows.push_back({p.devices()[d].name, std::to_string(t.nodes), std::to_string(t.variables) + " B",
                    fmt::format("{:.1f} us", t.seconds * 1e6), std::to_string(t.peak) + " B"});
  }
  std::int64_t bytes = 0;
  for (const auto& t : p.transfers()) bytes = saturated_sum(bytes, t.bytes);
  return detail::aligned(rows) + fmt::format("{} value{}, {} bytes cross between devices; a step would take {:.1f} us",
                                             p.transfers().size(), p.transfers().size() == 1 ? "" : "s", bytes,
                                             p.makespan() * 1e6);
}
#endif

}  // namespace pinion::inline v0

template <>
struct fmt::formatter<pinion::plan> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const pinion::plan& p, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(to_string(p), context);
  }
};
