// Bodies of <pinion/placement/groups.hpp>.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include <pinion/placement/group_builder.hpp>
#include <pinion/placement/group_tables.hpp>
#include <pinion/placement/groups.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

inline std::unordered_set<std::string_view> ops_of(const placement_problem& p) {
  std::unordered_set<std::string_view> all;
  for (const node_id id : p.nodes) all.insert(p.graph[id].op);
  return all;
}

// Gives each op of the problem that some device lacks a bit of group_demand::needs.
inline void note_rare_ops(group_tables& t) {
  const auto& devices = t.problem.devices;
  if (std::all_of(devices.begin(), devices.end(), [](const device_info& d) { return d.lacks.empty(); })) return;
  const auto present = ops_of(t.problem);
  for (const device_info& d : devices)
    for (const std::string& op : d.lacks) {
      if (present.contains(op) && t.bit_of(op) == 0) t.rare.push_back(op);
      if (t.rare.size() > 64)
        throw error(errc::invalid_argument, "the devices lack more than 64 of the ops that are to be placed");
    }
}

}  // namespace detail

PINION_DECL placement_groups::placement_groups(const placement_problem& p)
    : tables_(std::make_unique<group_tables>(p)) {
  if (p.devices.empty()) throw error(errc::failed_precondition, "there is no device to place nodes on");
  for (position i = 0; i < p.nodes.size(); ++i) tables_->position_of[static_cast<std::size_t>(p.nodes[i])] = i;
  detail::note_rare_ops(*tables_);
  detail::group_builder(*tables_).run();
}

PINION_DECL placement_groups::~placement_groups() = default;

PINION_DECL placement_groups::group placement_groups::size() const {
  return static_cast<group>(tables_->demands.size());
}
PINION_DECL placement_groups::group placement_groups::of(position i) const {
  return tables_->group_of[i];
}
PINION_DECL std::span<const placement_groups::group> placement_groups::all() const {
  return tables_->group_of;
}
PINION_DECL std::span<const placement_groups::position> placement_groups::members(group g) const {
  const auto& begin = tables_->begin;
  return {tables_->members.data() + begin[g], begin[g + 1] - begin[g]};
}
PINION_DECL const group_demand& placement_groups::demand(group g) const {
  return tables_->demands[g];
}
PINION_DECL const group_lead& placement_groups::lead(group g) const {
  return tables_->leads[g];
}
PINION_DECL placement_groups::position placement_groups::position_of(node_id id) const {
  return tables_->position_of[static_cast<std::size_t>(id)];
}
PINION_DECL const node& placement_groups::at(position i) const {
  return tables_->at(i);
}
PINION_DECL const op_facts& placement_groups::facts(position i) const {
  return *tables_->facts[i];
}

PINION_DECL std::uint64_t placement_groups::missing_on(const device_info& d) const {
  std::uint64_t bits = 0;
  for (const auto& op : d.lacks) bits |= tables_->bit_of(op);
  return bits;
}

PINION_DECL const std::map<placement_groups::position, std::string>& placement_groups::dropped() const {
  return tables_->dropped;
}

PINION_DECL node_id placement_groups::asked_outside(position i) const {
  const auto at = tables_->asked_outside.find(i);
  return at == tables_->asked_outside.end() ? no_node : at->second;
}

PINION_DECL const request_pool& placement_groups::requests() const {
  return tables_->requests;
}
PINION_DECL const kernel_pool& placement_groups::kernels() const {
  return tables_->kernels;
}

}}  // namespace pinion::v0
