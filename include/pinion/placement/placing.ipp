// Bodies of <pinion/placement/placing.hpp>.
#pragma once

#include <pinion/base/near_name.hpp>
#include <pinion/placement/placing.hpp>

namespace pinion::inline v0 {

PINION_DECL std::span<const int> placing::candidates(group g) {
  const candidate_list& list = candidates_.of(g);
  if (list.devices.empty()) refuse(g);
  return list.devices;
}

PINION_DECL bool placing::may_hold(group g, int device) {
  const auto& holds = candidates_.of(g).holds;
  return device >= 0 && static_cast<std::size_t>(device) < holds.size() && holds[static_cast<std::size_t>(device)];
}

PINION_DECL placing::placing(const placement_problem& p)
    : p_(p), groups_(p), candidates_(p, groups_), device_(groups_.size(), -1), reason_(groups_.size(), 0) {
  start_over();
}

PINION_DECL void placing::start_over() {
  std::fill(device_.begin(), device_.end(), -1);
  if (p_.kept.empty()) return;
  for (group g = 0; g < groups_.size(); ++g)
    if (groups_.demand(g).assigned != request_pool::nothing) put(g, candidates(g).front());
}

PINION_DECL std::vector<placing::group> placing::left() const {
  std::vector<group> without;
  for (group g = 0; g < groups_.size(); ++g)
    if (device_[g] < 0) without.push_back(g);
  return without;
}

PINION_DECL void placing::put(group g, int device, std::string_view reason) {
  if (!may_hold(g, device)) {
    const position i = groups_.members(g)[0];
    const node& n = groups_.at(i);
    const bool there = device >= 0 && static_cast<std::size_t>(device) < p_.devices.size();
    const device_info* d = there ? &p_.devices[static_cast<std::size_t>(device)] : nullptr;
    throw error(errc::invalid_argument, "the placer put '" + n.name + "' on " +
                                            (d ? d->name + ", which may not hold it: " + why_not(i, d->spec)
                                               : "device " + std::to_string(device) + ", which is not there"))
        .at_node(n.name, n.op, to_string(n.where));
  }
  device_[g] = device;
  const auto [at, fresh] = known_.try_emplace(std::string(reason), static_cast<std::uint32_t>(reasons_.size()));
  if (fresh) reasons_.emplace_back(reason);
  reason_[g] = at->second;
}

PINION_DECL placement placing::result() const {
  placement done;
  done.devices_ = p_.devices;
  done.nodes_ = p_.nodes;
  done.reasons_ = reasons_;
  done.device_.resize(p_.nodes.size());
  done.reason_.resize(p_.nodes.size());
  for (position i = 0; i < p_.nodes.size(); ++i) {
    const group g = groups_.of(i);
    if (device_[g] < 0) {
      const node& n = groups_.at(i);
      throw error(errc::failed_precondition, "the placer gave '" + n.name + "' no device")
          .at_node(n.name, n.op, to_string(n.where));
    }
    done.device_[i] = device_[g];
    done.reason_[i] = reason_[g];
  }
  for (const auto& [i, what] : groups_.dropped()) done.dropped_.emplace_back(p_.nodes[i], what);
  return done;
}

inline bool placing::has_kernel(position i, std::string_view device_type) const {
  const op_facts& facts = groups_.facts(i);
  return std::any_of(facts.kernels.begin(), facts.kernels.end(), [&](auto& k) { return k.device_type == device_type; });
}

PINION_DECL bool placing::has_kernel(position i, const device_info& d) const {
  return has_kernel(i, d.spec.type()) && std::find(d.lacks.begin(), d.lacks.end(), groups_.at(i).op) == d.lacks.end();
}
PINION_DECL std::string placing::missing(position i, const device_info& d) const {
  if (has_kernel(i, d.spec.type())) return d.name + " lacks " + groups_.at(i).op;
  return p_.ops.missing(groups_.at(i), d.spec.type());
}

PINION_DECL std::string placing::why_not(position i, const device_spec& request) const {
  std::string devices;
  bool matched = false;
  for (const device_info& d : p_.devices) {
    const bool matches = is_specification(request, d.spec);
    matched = matched || matches;
    if (matches)
      for (const position m : groups_.members(groups_.of(i)))
        if (!has_kernel(m, d))
          return (m == i ? "" : "'" + groups_.at(m).name + "', which must stand with it: ") + missing(m, d);
    devices += (devices.empty() ? "" : ", ") + d.name;
  }
  // A device that is not there may lack the kernel too: the more helpful thing to know.
  const bool known = request.type() == "CPU" || request.type() == "GPU";
  if (known && !has_kernel(i, request.type())) return p_.ops.missing(groups_.at(i), request.type());
  return matched ? "those that must stand with it ask for something else"
                 : "no such device; there are " + devices + meant(request);
}

// The job or type that a request meant which none of the devices has. (A type that exists, but not here, was meant.)
inline std::string placing::meant(const device_spec& request) const {
  std::vector<std::string_view> jobs, types;
  for (const device_info& d : p_.devices) {
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

PINION_DECL void placing::refuse(group g) {
  const group_demand& d = groups_.demand(g);
  const device_spec& request = groups_.requests()[d.requested];
  const auto& all = groups_.members(g);
  const auto first = [&](auto&& is, position otherwise) {
    const auto at = std::find_if(all.begin(), all.end(), is);
    return at == all.end() ? otherwise : *at;
  };
  const bool fixed = d.assigned != request_pool::nothing;
  const device_info* on = nullptr;
  for (const device_info& info : p_.devices)
    if (fixed && info.spec == request) on = &info;
  // The first that asked for it; or the one that cannot go where the others are.
  const position anchor = first(
      [&](position m) {
        const auto kept = p_.kept.find(p_.nodes[m]);
        return kept != p_.kept.end() && on && kept->second == on->name;
      },
      all[0]);
  const position culprit =
      on ? first([&](position m) { return !has_kernel(m, *on); }, all[0])
         : first(
               [&](position m) {
                 return !groups_.at(m).requested.empty() && is_specification(groups_.at(m).requested, request);
               },
               first([&](position m) { return groups_.facts(m).kernels.size() < 2; }, all[0]));
  const node& n = groups_.at(culprit);
  std::string sentence;
  if (on)
    sentence = "'" + n.name + "' must stand with '" + groups_.at(anchor).name + "', which is on " + on->name +
               ", but " + missing(culprit, *on);
  else
    sentence = (request.empty() ? "no device can hold '" + n.name + "': "
                                : "'" + n.name + "' cannot be placed on " + to_string(request) + ": ") +
               why_not(culprit, request) +
               (n.request_reason.empty() ? "" : " (asked for by " + n.request_reason + ")") +
               (!p_.soft && candidates_.could_loosen(d) ? "; soft placement would loosen the request" : "");
  throw error(errc::invalid_argument, sentence).at_node(n.name, n.op, to_string(n.where)).on_device(to_string(request));
}

}  // namespace pinion::inline v0
