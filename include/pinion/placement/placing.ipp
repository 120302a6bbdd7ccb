// Bodies of <pinion/placement/placing.hpp>.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/placement/candidates.hpp>
#include <pinion/placement/group_tables.hpp>
#include <pinion/placement/placement_tables.hpp>
#include <pinion/placement/placing.hpp>
#include <pinion/placement/unmet_request.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Choices, each kept once, since most groups of a problem are decided in a few ways.
class choice_pool {
 public:
  std::uint32_t add(placement_reason::kind by, std::string_view reason, std::uint32_t refused) {
    if (words[last_.words] != reason) last_.words = id_of(reason);
    if (!choices.empty() && last_.by == by && last_.refused == refused && choices[last_id_].words == last_.words)
      return last_id_;
    last_ = {by, last_.words, refused};
    const auto fresh_id = static_cast<std::uint32_t>(choices.size());
    const auto [at, fresh] = ids_.try_emplace({by, last_.words, refused}, fresh_id);
    if (fresh) choices.push_back(last_);
    return last_id_ = at->second;
  }

  std::vector<placement_choice> choices;
  std::vector<std::string> words{""};

 private:
  std::uint32_t id_of(std::string_view reason) {
    const auto [at, fresh] = word_ids_.try_emplace(std::string(reason), static_cast<std::uint32_t>(words.size()));
    if (fresh) words.emplace_back(reason);
    return at->second;
  }

  placement_choice last_;
  std::uint32_t last_id_ = 0;
  std::map<std::tuple<placement_reason::kind, std::uint32_t, std::uint32_t>, std::uint32_t> ids_;
  std::unordered_map<std::string, std::uint32_t> word_ids_{{"", 0}};
};

}  // namespace detail

struct placing::records {
  explicit records(const placement_problem& of)
      : p(of), groups(of), candidates(of, groups), device(groups.size(), -1), choice(groups.size(), 0) {}

  placement_reason::kind decided_by(group g, int chosen, std::string_view reason, const candidate_list& list) const;
  node_id culprit_of(group g) const;
  error unplaced(group g) const;
  std::vector<std::pair<node_id, unmet_request>> unmet() const;

  const placement_problem& p;
  placement_groups groups;
  placement_candidates candidates;
  std::vector<std::int32_t> device;   // of each group
  std::vector<std::uint32_t> choice;  // of each group
  detail::choice_pool pool;
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
  return records_->candidates.of(g).may_hold(device);
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
  cancellable_work::check();
  records& r = *records_;
  const candidate_list& list = r.candidates.of(g);
  if (!list.may_hold(device)) refuse(g, device);
  r.device[g] = device;
  r.choice[g] = r.pool.add(r.decided_by(g, device, reason, list), reason, list.number);
}

PINION_DECL placement placing::result(std::shared_ptr<const cost_model> costs) const {
  const records& r = *records_;
  auto done = std::make_shared<placement_tables>();
  done->devices = r.p.devices;
  done->nodes = r.p.nodes;
  done->group.assign(r.groups.all().begin(), r.groups.all().end());
  done->device.reserve(r.p.nodes.size());
  for (const group g : done->group) {
    if (r.device[g] < 0) throw r.unplaced(g);
    done->device.push_back(r.device[g]);
  }
  done->groups.reserve(r.groups.size());
  for (group g = 0; g < r.groups.size(); ++g)
    done->groups.push_back({r.p.nodes[r.groups.lead(g).member], r.culprit_of(g), r.choice[g]});
  done->choices = r.pool.choices;
  done->words = r.pool.words;
  for (const candidate_list* list : r.candidates.lists()) done->refused.push_back(list->refused);
  for (const auto& [i, note] : r.groups.dropped()) done->dropped.emplace_back(r.p.nodes[i], note);
  done->unmet = r.unmet();
  done->costs = std::move(costs);
  return placement(std::move(done));
}

// The leader's request decides before an earlier run, and the placer where neither does.
inline placement_reason::kind placing::records::decided_by(group g, int chosen, std::string_view reason,
                                                           const candidate_list& list) const {
  if (const auto by = groups.lead(g).by; by != placement_reason::first_device) return by;
  if (!reason.empty() || chosen != list.devices.front()) return placement_reason::placer;
  return list.refused.empty() ? placement_reason::first_device : placement_reason::only_kernel;
}

inline node_id placing::records::culprit_of(group g) const {
  const placement_choice& how = pool.choices[choice[g]];
  if (how.by == placement_reason::outside) return groups.asked_outside(groups.lead(g).member);
  if (how.by != placement_reason::only_kernel) return no_node;
  const int refused = candidates.lists()[how.refused]->refused.front();
  for (const position m : groups.members(g))
    if (!groups.facts(m).has_kernel(groups.at(m).op, p.devices[static_cast<std::size_t>(refused)])) return p.nodes[m];
  return p.nodes[groups.lead(g).member];
}

inline error placing::records::unplaced(group g) const {
  const node& n = groups.at(groups.members(g)[0]);
  return error(errc::failed_precondition, "the placer gave '" + n.name + "' no device")
      .at_node(n.name, n.op, to_string(n.where));
}

// Requests are loosened by soft placement, dropped where a group cannot share them, and passed over for nodes that an
// earlier run placed; a problem with none of these meets all.
inline std::vector<std::pair<node_id, unmet_request>> placing::records::unmet() const {
  std::vector<std::pair<node_id, unmet_request>> all;
  if (!p.soft && p.kept.empty() && groups.dropped().empty()) return all;
  unmet_finder finder(p, groups);
  for (position i = 0; i < p.nodes.size(); ++i) {
    const device_spec& request = groups.at(i).requested;
    if (is_specification(request, p.devices[static_cast<std::size_t>(device[groups.of(i)])].spec)) continue;
    const bool noted = groups.dropped().count(i) > 0;
    all.emplace_back(p.nodes[i], noted ? unmet_request{unmet_request::dropped} : finder.find(i, request));
  }
  return all;
}

PINION_DECL void placing::refuse(group g, int device) const {
  const records& r = *records_;
  const position i = r.groups.members(g)[0];
  const node& n = r.groups.at(i);
  const bool there = device >= 0 && static_cast<std::size_t>(device) < r.p.devices.size();
  std::string where = "device " + std::to_string(device) + ", which is not there";
  if (there) {
    const device_info& d = r.p.devices[static_cast<std::size_t>(device)];
    const unmet_request why = unmet_finder(r.p, r.groups).find(i, d.spec);
    where = d.name + ", which may not hold it: " + to_sentence(why, r.p, r.p.nodes[i], d.spec);
  }
  throw error(errc::invalid_argument, "the placer put '" + n.name + "' on " + where)
      .at_node(n.name, n.op, to_string(n.where));
}

namespace detail {

// Words the error of a group that no device can hold. The culprit is the first member that asked, or, where the group
// has to stay on a device, the member that has no kernel there.
class group_refusal {
 public:
  group_refusal(const placement_problem& p, const placement_groups& groups, placement_groups::group g)
      : p_(p), groups_(groups), all_(groups.members(g)), demand_(groups.demand(g)), lead_(groups.lead(g)) {}

  error of(bool could_loosen) const {
    const device_info* const fixed = fixed_device();
    const position culprit = fixed ? first([&](position m) { return !has_kernel(m, *fixed); }, all_[0]) : asker();
    const node& n = groups_.at(culprit);
    return error(errc::invalid_argument, fixed ? kept_apart(culprit, *fixed) : unmet(culprit, could_loosen))
        .at_node(n.name, n.op, to_string(n.where))
        .on_device(to_string(request()));
  }

 private:
  using position = placement_groups::position;

  template <class Predicate>
  position first(const Predicate& is, position otherwise) const {
    const auto at = std::find_if(all_.begin(), all_.end(), is);
    return at == all_.end() ? otherwise : *at;
  }
  const device_spec& request() const { return groups_.requests()[demand_.requested]; }
  bool has_kernel(position m, const device_info& d) const { return groups_.facts(m).has_kernel(groups_.at(m).op, d); }
  // The device that an earlier run gave to a member; null for a group without such.
  const device_info* fixed_device() const {
    if (demand_.assigned == request_pool::nothing) return nullptr;
    const auto at = std::find_if(p_.devices.begin(), p_.devices.end(), [&](auto& d) { return d.spec == request(); });
    return at == p_.devices.end() ? nullptr : &*at;
  }
  position asker() const {
    if (lead_.by == placement_reason::requested) return lead_.member;
    return first([&](position m) { return groups_.facts(m).kernels.size() < 2; }, all_[0]);
  }
  std::string kept_apart(position culprit, const device_info& fixed) const {
    const auto kept_there = [&](position m) {
      const auto kept = p_.kept.find(p_.nodes[m]);
      return kept != p_.kept.end() && kept->second == fixed.name;
    };
    return "'" + groups_.at(culprit).name + "' must stand with '" + groups_.at(first(kept_there, all_[0])).name +
           "', which is on " + fixed.name + ", but " + p_.ops.missing_on(groups_.at(culprit), fixed);
  }
  std::string unmet(position culprit, bool could_loosen) const {
    const node& n = groups_.at(culprit);
    const std::string place = to_string(request());
    const unmet_request why = unmet_finder(p_, groups_).find(culprit, request());
    return (place.empty() ? "no device can hold '" + n.name + "': "
                          : "'" + n.name + "' cannot be placed on " + place + ": ") +
           to_sentence(why, p_, p_.nodes[culprit], request()) +
           (n.request_reason.empty() ? "" : " (asked for by " + n.request_reason + ")") +
           (could_loosen ? "; soft placement would loosen the request" : "");
  }

  const placement_problem& p_;
  const placement_groups& groups_;
  const std::span<const position> all_;
  const group_demand& demand_;
  const group_lead& lead_;
};

}  // namespace detail

PINION_DECL void placing::refuse(group g) const {
  const records& r = *records_;
  const bool could_loosen = !r.p.soft && r.candidates.could_loosen(r.groups.demand(g));
  throw detail::group_refusal(r.p, r.groups, g).of(could_loosen);
}

}}  // namespace pinion::v0
