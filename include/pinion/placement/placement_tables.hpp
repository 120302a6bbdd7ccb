// The tables behind a placement, which class placing fills.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/node.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/placement/reason.hpp>

namespace pinion { inline namespace v0 {

struct cost_model;

// A decision of class placing for a group. Groups that were decided alike share one.
struct placement_choice {
  placement_reason::kind by = placement_reason::first_device;
  std::uint32_t words = 0;    // in placement_tables::words
  std::uint32_t refused = 0;  // in placement_tables::refused
};

// Nodes are in the order of the problem; groups are those of placement_groups.
struct placement_tables {
  struct placed_group {
    node_id leader = no_node, culprit = no_node;
    std::uint32_t choice = 0;  // in `choices`
  };

  std::vector<device_info> devices;
  std::vector<node_id> nodes;
  std::vector<std::int32_t> device;  // of each node, in `devices`
  std::vector<std::uint32_t> group;  // of each node, in `groups`
  std::vector<placed_group> groups;
  std::vector<placement_choice> choices;
  std::vector<std::string> words;
  std::vector<std::vector<int>> refused;
  std::vector<std::pair<node_id, std::string>> dropped;
  std::vector<std::pair<node_id, unmet_request>> unmet;
  std::shared_ptr<const cost_model> costs;
};

}}  // namespace pinion::v0
