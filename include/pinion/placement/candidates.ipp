// Bodies of <pinion/placement/candidates.hpp>.
#pragma once

#include <algorithm>
#include <numeric>
#include <tuple>

#include <pinion/placement/candidates.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL const candidate_list& placement_candidates::of(placement_groups::group g) {
  const group_demand& d = groups_.demand(g);
  if (last_ && d == last_demand_) return *last_;
  last_demand_ = d;
  last_ = &find(d);
  return *last_;
}

PINION_DECL std::size_t placement_candidates::hash_demand::operator()(const group_demand& d) const {
  const std::uint64_t a = std::uint64_t{d.assigned} << 32 | d.resource,
                      b = std::uint64_t{d.requested} << 32 | d.kernels;
  return std::hash<std::uint64_t>()((a * 0x9E3779B97F4A7C15u) ^ b ^ (d.needs << 7));
}

PINION_DECL placement_candidates::placement_candidates(const placement_problem& p, const placement_groups& groups)
    : p_(p), groups_(groups), by_name_(p.devices.size()), rank_(p.devices.size()) {
  const auto& all = p.devices;
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::sort(by_name_.begin(), by_name_.end(), [&](int a, int b) {
    return natural_less(all[static_cast<std::size_t>(a)].name, all[static_cast<std::size_t>(b)].name);
  });
  for (std::size_t r = 0; r < by_name_.size(); ++r) {
    const int d = by_name_[r];
    rank_[static_cast<std::size_t>(d)] = static_cast<int>(r);
    const device_spec& spec = all[static_cast<std::size_t>(d)].spec;
    by_task_[{std::string(spec.job()), spec.task()}].push_back(d);
  }
}

// Soft placement gives up the type and index of the request, then those of a resource's request too; never a job or
// task.
PINION_DECL const candidate_list& placement_candidates::find(const group_demand& d) {
  const auto [at, fresh] = lists_.try_emplace(d);
  candidate_list& list = at->second;
  if (!fresh) return list;
  list.number = static_cast<std::uint32_t>(numbered_.size());
  numbered_.push_back(&list);
  found all = search(groups_.requests()[d.requested], d);
  if (all.devices.empty() && p_.soft) all = search(loosened(d, true), d);
  if (all.devices.empty() && p_.soft) all = search(loosened(d, false), d);
  list.devices = std::move(all.devices);
  list.refused = std::move(all.refused);
  list.holds.assign(p_.devices.size(), false);
  for (const int device : list.devices) list.holds[static_cast<std::size_t>(device)] = true;
  return list;
}

inline device_spec placement_candidates::loosened(const group_demand& d, bool resource_stays) const {
  const request_pool& requests = groups_.requests();
  const device_spec fixed = resource_stays ? merge(requests[d.assigned], requests[d.resource]) : requests[d.assigned];
  device_spec r = requests[d.requested];
  if (fixed.index() < 0) r = r.with_index(-1);
  if (fixed.type().empty()) r = r.with_type("");
  return r;
}

inline const std::vector<int>& placement_candidates::within(const device_spec& request) const {
  static const std::vector<int> nothing;
  if (request.job().empty() || request.task() < 0) return by_name_;
  const auto at = by_task_.find({std::string(request.job()), request.task()});
  return at == by_task_.end() ? nothing : at->second;
}

inline placement_candidates::found placement_candidates::search(const device_spec& request,
                                                                const group_demand& demand) const {
  const auto& able = groups_.kernels()[demand.kernels];
  const bool any_task = request.job().empty() && request.task() < 0;
  std::vector<std::tuple<bool, bool, int, int, bool, int, int>> able_devices;
  found all;
  for (const int d : within(request)) {
    const device_spec& spec = p_.devices[static_cast<std::size_t>(d)].spec;
    if (!is_specification(request, spec)) continue;
    const int type = groups_.kernels().index_of(spec.type());
    const auto kernel = std::find_if(able.begin(), able.end(), [&](const auto& e) { return e.type == type; });
    if (kernel == able.end() || demand.needs & groups_.missing_on(p_.devices[static_cast<std::size_t>(d)])) {
      all.refused.push_back(d);
      continue;
    }
    const bool away = !is_specification(p_.home, spec);
    able_devices.emplace_back(p_.first.empty() || spec != p_.first, any_task && away, -kernel->priority, type, away,
                              rank_[static_cast<std::size_t>(d)], d);
  }
  std::sort(able_devices.begin(), able_devices.end());
  for (const auto& able_device : able_devices) all.devices.push_back(std::get<6>(able_device));
  std::sort(all.refused.begin(), all.refused.end());
  return all;
}

}}  // namespace pinion::v0
