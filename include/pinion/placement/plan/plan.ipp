// Bodies of <pinion/placement/plan/plan.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/arithmetic.hpp>
#include <pinion/base/near_name.hpp>
#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL plan::plan() = default;
PINION_DECL plan::plan(const plan&) = default;
PINION_DECL plan::plan(plan&&) noexcept = default;
PINION_DECL plan& plan::operator=(const plan&) = default;
PINION_DECL plan& plan::operator=(plan&&) noexcept = default;
PINION_DECL plan::~plan() = default;

PINION_DECL plan::plan(std::vector<device_info> devices, std::vector<placed_node> nodes, plan_figures figures)
    : devices_(std::move(devices)), nodes_(std::move(nodes)), figures_(std::move(figures)) {
  figures_.totals.resize(devices_.size());
}

PINION_DECL void plan::add_note(std::string note) {
  figures_.notes.push_back(std::move(note));
}

PINION_DECL const placed_node* plan::find(std::string_view name) const {
  const auto at = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.name == name; });
  return at == nodes_.end() ? nullptr : &*at;
}

PINION_DECL const std::string& plan::device_of(std::string_view name) const {
  const placed_node* n = find(name);
  if (!n) refuse_name(name);
  return n->device;
}

PINION_DECL std::vector<placed_node> plan::fallbacks() const {
  std::vector<placed_node> moved;
  for (const auto& n : nodes_)
    if (n.fallback) moved.push_back(n);
  return moved;
}

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
  for (const auto& n : p.nodes())
    rows.push_back({n.name, n.op, n.device,
                    n.reason + (n.optimized.empty() ? "" : "; " + n.optimized) +
                        (n.kernel.empty() ? "" : "; " + n.kernel) +
                        (n.unrecorded.empty() ? "" : "; not recorded, since " + n.unrecorded)});
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

}}  // namespace pinion::v0
