// Where each node of a problem goes: what a placer answers, and what a step is cut by.
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
#include <pinion/graph/graph.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 {

struct placement_tables;

// A value, made by class placing, so that it keeps every rule. Its copies share it. A few bytes a node: its texts are
// made by explain().
class placement {
 public:
  placement();
  // A move is a copy, so that none is left without tables.
  placement(const placement&) = default;
  placement& operator=(const placement&) = default;
  explicit placement(std::shared_ptr<const placement_tables> made) : tables_(std::move(made)) {}

  const std::vector<device_info>& devices() const;
  const std::vector<node_id>& nodes() const;  // ascending
  // Of the i-th node, in devices().
  int device_index(std::size_t i) const;
  std::span<const std::int32_t> device_indices() const;
  const device_info& device(std::size_t i) const;
  // In the placer's words; "" where the rules alone decided.
  std::string_view reason(std::size_t i) const;
  // The same of some of the nodes, under other ids: (present one, other one), both ascending.
  placement renamed(const std::vector<std::pair<node_id, node_id>>& ids) const;
  // What was given up of the wishes of some nodes, in their order: a request, or a colocation.
  const std::vector<std::pair<node_id, std::string>>& dropped() const;

 private:
  std::shared_ptr<const placement_tables> tables_;
};

// Keeps the devices of nodes that had none; yields which they are, in order, as places in the placement.
std::vector<std::size_t> keep(const placement& placed, std::unordered_map<node_id, std::string>& kept);

// What TensorFlow logs of them: a line for each, "mul: (Mul): /job:localhost/replica:0/task:0/device:CPU:0", then one
// for each wish of theirs that was dropped.
std::vector<std::string> placement_lines(const graph& g, const placement& placed,
                                         const std::vector<std::size_t>& fresh);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/placement.ipp>
#endif
