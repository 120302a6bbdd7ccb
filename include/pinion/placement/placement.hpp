// A placement: the device of each node of a problem, and what decided for it. Placers yield one; steps are cut by it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/placement/reason.hpp>

namespace pinion { inline namespace v0 {

struct cost_model;
struct placement_tables;

// A value that only class placing makes, so that it keeps every rule. Refers to nothing; copies share one set of tables
// and may be read by any thread. It takes a few bytes for each node, since explain() alone puts its records into words.
class placement {
 public:
  placement();
  // A move is a copy, so that no placement is left without tables.
  placement(const placement&) = default;
  placement& operator=(const placement&) = default;
  explicit placement(std::shared_ptr<const placement_tables> made) : tables_(std::move(made)) {}

  const std::vector<device_info>& devices() const;
  const std::vector<node_id>& nodes() const;  // ascending
  // The device of the i-th node, as an index into devices().
  int device_index(std::size_t i) const;
  std::span<const std::int32_t> device_indices() const;
  const device_info& device(std::size_t i) const;

  // The group of the i-th node: nodes of one group were placed together.
  std::uint32_t group(std::size_t i) const;
  // The reason of the device of the i-th node's group; valid as long as the placement.
  placement_reason reason(std::size_t i) const;
  // Wishes that were given up, a request or a colocation, each as a note on its node; in the order of nodes.
  const std::vector<std::pair<node_id, std::string>>& dropped() const;
  // The nodes whose device does not meet their request; in the order of nodes.
  const std::vector<std::pair<node_id, unmet_request>>& unmet() const;

  // The costs by which its placer decided, which a plan then tells; null: the placer looked at none.
  const cost_model* costs() const;

  // This placement of some of its nodes. Requires: they are ascending.
  placement part(const std::vector<node_id>& nodes) const;
  // The devices and groups of some of the nodes, under other ids: pairs of present and other id, both ascending.
  // Reasons, which name nodes by their present ids, stay behind.
  placement renamed(const std::vector<std::pair<node_id, node_id>>& ids) const;

 private:
  std::shared_ptr<const placement_tables> tables_;
};

// Keeps the devices of nodes that had none, and yields the indices of these nodes, ascending.
std::vector<std::size_t> keep(const placement& placed, std::unordered_map<node_id, std::string>& kept);

// The log of some nodes in TensorFlow's format: a line for each, "mul: (Mul): /job:localhost/replica:0/task:0/device:
// CPU:0", then one for each of their wishes that was given up.
std::vector<std::string> placement_lines(graph_view g, const placement& placed, const std::vector<std::size_t>& fresh);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/placement.ipp>
#endif
