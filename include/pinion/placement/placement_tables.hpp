// The tables behind a placement.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/node.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 {

// Each node has a place in `devices` and one in `reasons`.
struct placement_tables {
  std::vector<device_info> devices;
  std::vector<node_id> nodes;
  std::vector<std::int32_t> device;
  std::vector<std::uint32_t> reason;
  std::vector<std::string> reasons{""};
  std::vector<std::pair<node_id, std::string>> dropped;
};

}}  // namespace pinion::v0
