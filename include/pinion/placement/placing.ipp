// Bodies of <pinion/placement/placing.hpp>.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <pinion/base/near_name.hpp>
#include <pinion/placement/candidates.hpp>
#include <pinion/placement/group_tables.hpp>
#include <pinion/placement/placement_tables.hpp>
#include <pinion/placement/placing.hpp>

namespace pinion { inline namespace v0 {

struct placing::records {
  explicit records(const placement_problem& of)
      : p(of), groups(of), candidates(of, groups), device(groups.size(), -1), reason(groups.size(), 0) {}

  const placement_problem& p;
  placement_groups groups;
  placement_candidates candidates;
  std::vector<std::int32_t> device;
  std::vector<std::uint32_t> reason;
  std::vector<std::string> reasons{""};
  std::unordered_map<std::string, std::uint32_t> known{{"", 0}};  // reasons, by text
};

PINION_DECL placing::placing(const placement_problem& p) : records_(std::make_unique<records>(p)) {
  start_over();
}
PINION_DECL placing::~placing() = default;

PINION_DECL const placement_problem& placing::problem() const {
  return records_->p;
}
PINION_DECL const placement_groups& placing::groups() const {
  return records_->groups;
}
PINION_DECL int placing::device_of(group g) const {
  return records_->device[g];
}
PINION_DECL int placing::device_of_node(position i) const {
  return records_->device[records_->groups.of(i)];
}

PINION_DECL std::span<const int> placing::candidates(group g) {
  const candidate_list& list = records_->candidates.of(g);
  if (list.devices.empty()) refuse(g);
  return list.devices;
}

PINION_DECL bool placing::may_hold(group g, int device) {
  const auto& holds = records_->candidates.of(g).holds;
  return device >= 0 && static_cast<std::size_t>(device) < holds.size() && holds[static_cast<std::size_t>(device)];
}

PINION_DECL void placing::start_over() {
  std::fill(records_->device.begin(), records_->device.end(), -1);
  if (records_->p.kept.empty()) return;
  for (group g = 0; g < records_->groups.size(); ++g)
    if (records_->groups.demand(g).assigned != request_pool::nothing) put(g, candidates(g).front());
}

PINION_DECL std::vector<placing::group> placing::left() const {
  std::vector<group> without;
  for (group g = 0; g < records_->device.size(); ++g)
    if (records_->device[g] < 0) without.push_back(g);
  return without;
}

PINION_DECL void placing::put(group g, int device, std::string_view reason) {
  records& r = *records_;
  if (!may_hold(g, device)) {
    const position i = r.groups.members(g)[0];
    const node& n = r.groups.at(i);
    const bool there = device >= 0 && static_cast<std::size_t>(device) < r.p.devices.size();
    const device_info* d = there ? &r.p.devices[static_cast<std::size_t>(device)] : nullptr;
    throw error(errc::invalid_argument, "the placer put '" + n.name + "' on " +
                                            (d ? d->name + ", which may not hold it: " + why_not(i, d->spec)
                                               : "device " + std::to_string(device) + ", which is not there"))
        .at_node(n.name, n.op, to_string(n.where));
  }
  r.device[g] = device;
  const auto [at, fresh] = r.known.try_emplace(std::string(reason), static_cast<std::uint32_t>(r.reasons.size()));
  if (fresh) r.reasons.emplace_back(reason);
  r.reason[g] = at->second;
}

PINION_DECL placement placing::result() const {
  const records& r = *records_;
  auto done = std::make_shared<placement_tables>();
  done->devices = r.p.devices;
  done->nodes = r.p.nodes;
  done->reasons = r.reasons;
  done->device.resize(r.p.nodes.size());
  done->reason.resize(r.p.nodes.size());
  for (position i = 0; i < r.p.nodes.size(); ++i) {
    const group g = r.groups.of(i);
    if (r.device[g] < 0) {
      const node& n = r.groups.at(i);
      throw error(errc::failed_precondition, "the placer gave '" + n.name + "' no device")
          .at_node(n.name, n.op, to_string(n.where));
    }
    done->device[i] = r.device[g];
    done->reason[i] = r.reason[g];
  }
  for (const auto& [i, what] : r.groups.dropped()) done->dropped.emplace_back(r.p.nodes[i], what);
  return placement(std::move(done));
}

namespace detail {

inline bool has_kernel_on(const placement_groups& groups, placing::position i, std::string_view device_type) {
  const op_facts& facts = groups.facts(i);
  return std::any_of(facts.kernels.begin(), facts.kernels.end(), [&](auto& k) { return k.device_type == device_type; });
}

// The job or type that a request meant which none of the devices has. (A type that exists, but not here, was meant.)
inline std::string meant(const placement_problem& p, const device_spec& request) {
  std::vector<std::string_view> jobs, types;
  for (const device_info& d : p.devices) {
    jobs.push_back(d.spec.job());
    types.push_back(d.spec.type());
  }
  const auto no_such = [](std::string_view name, const auto& names) {
    return !name.empty() && std::find(names.begin(), names.end(), name) == names.end();
  };
  const bool of_no_kind = no_such(request.type(), types) && rank_of_type(request.type()) < 0;
  return (no_such(request.job(), jobs) ? did_you_mean(request.job(), jobs) : "") +
         (of_no_kind ? did_you_mean(request.type(), types) : "");
}

}  // namespace detail

PINION_DECL bool placing::has_kernel(position i, const device_info& d) const {
  return detail::has_kernel_on(groups(), i, d.spec.type()) &&
         std::find(d.lacks.begin(), d.lacks.end(), groups().at(i).op) == d.lacks.end();
}
PINION_DECL std::string placing::missing(position i, const device_info& d) const {
  const node& n = groups().at(i);
  if (detail::has_kernel_on(groups(), i, d.spec.type())) return d.name + " lacks " + n.op;
  return problem().ops.missing(n, d.spec.type());
}

PINION_DECL std::string placing::why_not(position i, const device_spec& request) const {
  const placement_problem& p = problem();
  const placement_groups& all = groups();
  std::string devices;
  bool matched = false;
  for (const device_info& d : p.devices) {
    const bool matches = is_specification(request, d.spec);
    matched = matched || matches;
    if (matches)
      for (const position m : all.members(all.of(i)))
        if (!has_kernel(m, d))
          return (m == i ? "" : "'" + all.at(m).name + "', which must stand with it: ") + missing(m, d);
    devices += (devices.empty() ? "" : ", ") + d.name;
  }
  // A device that is not there may lack the kernel too: the more helpful thing to know.
  const bool is_built_in = request.type() == "CPU" || request.type() == "GPU";
  if (is_built_in && !detail::has_kernel_on(all, i, request.type())) return p.ops.missing(all.at(i), request.type());
  return matched ? "those that must stand with it ask for something else"
                 : "no such device; there are " + devices + detail::meant(p, request);
}

PINION_DECL void placing::refuse(group g) const {
  const placement_problem& p = problem();
  const placement_groups& groups = records_->groups;
  const group_demand& d = groups.demand(g);
  const device_spec& request = groups.requests()[d.requested];
  const auto& all = groups.members(g);
  const auto first = [&](auto&& is, position otherwise) {
    const auto at = std::find_if(all.begin(), all.end(), is);
    return at == all.end() ? otherwise : *at;
  };
  const bool fixed = d.assigned != request_pool::nothing;
  const device_info* on = nullptr;
  for (const device_info& info : p.devices)
    if (fixed && info.spec == request) on = &info;
  // The first that asked for it; or the one that cannot go where the others are.
  const position anchor = first(
      [&](position m) {
        const auto kept = p.kept.find(p.nodes[m]);
        return kept != p.kept.end() && on && kept->second == on->name;
      },
      all[0]);
  const position culprit =
      on ? first([&](position m) { return !has_kernel(m, *on); }, all[0])
         : first(
               [&](position m) {
                 return !groups.at(m).requested.empty() && is_specification(groups.at(m).requested, request);
               },
               first([&](position m) { return groups.facts(m).kernels.size() < 2; }, all[0]));
  const node& n = groups.at(culprit);
  std::string sentence;
  if (on)
    sentence = "'" + n.name + "' must stand with '" + groups.at(anchor).name + "', which is on " + on->name + ", but " +
               missing(culprit, *on);
  else
    sentence = (request.empty() ? "no device can hold '" + n.name + "': "
                                : "'" + n.name + "' cannot be placed on " + to_string(request) + ": ") +
               why_not(culprit, request) +
               (n.request_reason.empty() ? "" : " (asked for by " + n.request_reason + ")") +
               (!p.soft && records_->candidates.could_loosen(d) ? "; soft placement would loosen the request" : "");
  throw error(errc::invalid_argument, sentence).at_node(n.name, n.op, to_string(n.where)).on_device(to_string(request));
}

}}  // namespace pinion::v0
