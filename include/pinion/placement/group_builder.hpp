// The builder of groups: union-find over references, resources and colocations. Rules and their order are those of
// TensorFlow 1.15, colocation_graph.cc, except that a dropped colocation leaves no trace in either group.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pinion/placement/group_tables.hpp>

namespace pinion { inline namespace v0 { namespace detail {

// Fills the tables of a problem's groups in one call of run(). It unites nodes, merges what they ask for, and records
// for each group the leader that the others follow, and for each node which of its wishes were given up. Throws
// invalid_argument, naming both nodes, where two nodes must stand together and cannot.
class group_builder {
 public:
  using position = group_tables::position;
  using group = group_tables::group;
  static constexpr position absent = group_tables::absent;

  explicit group_builder(group_tables& result)
      : r_(result),
        p_(result.problem),
        requests_(result.requests),
        kernels_(result.kernels),
        facts_(result.facts),
        dropped_(result.dropped) {}
  void run() {
    find_outsiders();
    while (!build()) {
    }
    number();
    note_leaders();
  }

 private:
  struct clash {
    std::string why;
  };

  // A node outside the problem that uses a resource in it.
  struct outsider {
    node_id user;
    position resource;
  };

  bool build();
  void find_outsiders();
  void heed(const outsider& o);
  void enter(position i);
  void enter_kept(position i, const std::string& device, group_demand& d);
  void unite_handles(position i);
  void unite_listed();
  void join(std::unordered_map<std::string_view, position>& first, std::string_view key, position i);
  void note_dropped();
  void number();
  void note_leaders();
  void lead(group g, position member, placement_reason::kind by);
  bool is_kept(position i) const { return p_.kept.count(p_.nodes[i]) > 0 && !released_.count(i); }

  position root(position i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(position a, position b, bool soft);
  bool released_for(position x, position y);
  group_demand shared_demand(position a, position b, bool soft);
  std::string both_ask(position a, request_pool::id of_a, position b, request_pool::id of_b);
  std::string types_of(kernel_pool::id kernels);
  void link(position x, position y, const group_demand& demand);
  const node& at(position i) const { return r_.at(i); }
  error refusal(position i, std::string sentence) const;

  group_tables& r_;
  const placement_problem& p_;
  request_pool& requests_;
  kernel_pool& kernels_;
  std::vector<const op_facts*>& facts_;
  std::map<position, std::string>& dropped_;

  std::unordered_set<position> released_;  // kept nodes that may move after all
  std::vector<position> parent_;
  std::vector<std::uint8_t> depth_;
  std::vector<group_demand> demand_of_;  // by root
  std::vector<bool> release_;            // by root: kept members without state are to be released
  std::vector<position> overruled_by_;   // by root: the node whose request replaced that of an op which works on it
  std::vector<request_pool::id> own_;    // by node: the request of its own
  std::vector<outsider> outsiders_;      // those with a request, by id
};

// One pass over the nodes. False where a kept node was released, and the pass has to be done again without it.
inline bool group_builder::build() {
  const auto n = p_.nodes.size();
  parent_.resize(n);
  std::iota(parent_.begin(), parent_.end(), position{0});
  depth_.assign(n, 0);
  demand_of_.assign(n, {});
  own_.assign(n, request_pool::nothing);
  dropped_.clear();
  release_.assign(n, false);
  overruled_by_.assign(n, absent);
  for (position i = 0; i < n; ++i) enter(i);
  r_.asked_outside.clear();
  auto next = outsiders_.begin();
  for (position i = 0; i < n; ++i) {
    for (; next != outsiders_.end() && next->user < p_.nodes[i]; ++next) heed(*next);
    unite_handles(i);
  }
  for (; next != outsiders_.end(); ++next) heed(*next);
  unite_listed();
  // A node with state stays where it is; one without may follow its group, although it ran elsewhere before.
  bool sound = true;
  if (!p_.kept.empty())
    for (position i = 0; i < n; ++i)
      if (release_[root(i)] && !facts_[i]->stateful && p_.kept.count(p_.nodes[i]) && released_.insert(i).second)
        sound = false;
  if (sound) note_dropped();
  return sound;
}

inline error group_builder::refusal(position i, std::string sentence) const {
  const node& n = at(i);
  return error(errc::invalid_argument, std::move(sentence)).at_node(n.name, n.op, to_string(n.where));
}

// A queue that asks for nothing stands where the first of its users asks to be. Users outside the problem have a say in
// that too, so that steps and sessions which run other parts of the graph find the same queue.
inline void group_builder::find_outsiders() {
  const auto makes_resource = [&](node_id id) {
    const auto& outputs = p_.graph[id].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [](const output_type& t) { return t.resource; });
  };
  if (std::none_of(p_.nodes.begin(), p_.nodes.end(), makes_resource)) return;
  for (node_id id = 0; id < static_cast<node_id>(r_.position_of.size()); ++id) {
    if (!p_.graph.contains(id) || r_.position_of[static_cast<std::size_t>(id)] != absent ||
        p_.graph[id].requested.empty())
      continue;
    for (const output& in : p_.graph[id].inputs)
      if (p_.graph.type_of(in).resource && r_.position_of[static_cast<std::size_t>(in.node)] != absent)
        outsiders_.push_back({id, r_.position_of[static_cast<std::size_t>(in.node)]});
  }
}
// An outsider whose request no device can meet has no say, since the step does not run it.
inline void group_builder::heed(const outsider& o) {
  group_demand& d = demand_of_[root(o.resource)];
  const request_pool::id wish = requests_.add(p_.graph[o.user].requested);
  if (!requests_.are_comparable(d.requested, wish)) return;
  const auto both = requests_.merged(d.requested, wish, p_.soft);
  if (!both || *both == d.requested) return;
  const auto meets = [&](const device_info& info) { return is_specification(requests_[*both], info.spec); };
  if (std::none_of(p_.devices.begin(), p_.devices.end(), meets)) return;
  d.requested = requests_.specialised(requests_.specialised(*both, d.resource), d.assigned);
  r_.asked_outside.emplace(o.resource, o.user);
}

// Makes a node a group of its own, which demands what the node asks for.
inline void group_builder::enter(position i) {
  const node& n = at(i);
  const op_facts& facts = p_.ops.facts(n);
  facts_[i] = &facts;
  group_demand& d = demand_of_[i];
  d.requested = own_[i] = requests_.add(n.requested);
  d.kernels = kernels_.of(facts);
  d.needs = r_.rare.empty() ? 0 : r_.bit_of(n.op);
  // The process of another task may know more kernels than this one does.
  const bool elsewhere = !p_.local.empty() && !compatible(n.requested.with_type(""), p_.local.with_type(""));
  if (facts.kernels.empty() && elsewhere) {
    d.kernels = kernels_.any(n.requested.type());
    if (d.kernels == kernel_pool::none) d.kernels = kernels_.any("");  // that no such device is there is told later
  }
  if (d.kernels == kernel_pool::none) {
    std::string types;
    for (const auto& t : kernels_.types()) types += (types.empty() ? "" : " and ") + p_.ops.missing(n, t);
    throw refusal(i, "'" + n.name + "' (" + n.op + ") cannot be placed on any of these devices: " + types);
  }
  if (const auto kept = p_.kept.find(p_.nodes[i]); kept != p_.kept.end() && !released_.count(i))
    enter_kept(i, kept->second, d);
  else if (n.inputs.empty() && n.outputs.size() == 1 && (n.outputs[0].reference || n.outputs[0].resource))
    d.resource = d.requested;
}

inline void group_builder::enter_kept(position i, const std::string& device, group_demand& d) {
  const node& n = at(i);
  const auto found =
      std::find_if(p_.devices.begin(), p_.devices.end(), [&](auto& info) { return info.name == device; });
  const auto wrong = [&](const std::string& why) {
    return error(errc::internal, "'" + n.name + "' was assigned to '" + device + "', " + why)
        .at_node(n.name, n.op, to_string(n.where))
        .on_device(device);
  };
  if (found == p_.devices.end()) throw wrong("which is none of the devices there are");
  const int type = kernels_.index_of(found->spec.type());
  const auto& able = kernels_[d.kernels];
  if (std::none_of(able.begin(), able.end(), [&](const auto& e) { return e.type == type; }))
    throw wrong("but " + p_.ops.missing(n, found->spec.type()));
  d.requested = d.assigned = requests_.add(found->spec);
  d.keeps_state = facts_[i]->stateful;
}

// An op works on a reference or resource where that stands. The op's request gives way to the request of the reference
// or resource, unless one of the two requests specifies the other: then both hold.
inline void group_builder::unite_handles(position i) {
  const node& n = at(i);
  for (std::size_t k = 0; k < n.inputs.size(); ++k) {
    const output in = n.inputs[k];
    if (k < 32 && !(facts_[i]->handles >> k & 1)) continue;
    const output_type& type = p_.graph.type_of(in);
    if (!type.reference && !type.resource) continue;
    const position from = r_.position_of[static_cast<std::size_t>(in.node)];
    if (from == absent) continue;
    const group_demand& source = demand_of_[root(from)];
    group_demand& mine = demand_of_[root(i)];
    const std::string both = "'" + n.name + "' works on '" + at(from).name + "' by a reference or resource";
    if (!requests_.are_comparable(source.resource, mine.resource))
      throw refusal(i, both + ", but other such inputs of it ask for another device: " +
                           to_string(requests_[mine.resource]) + " and " + to_string(requests_[source.resource]));
    if (!requests_.are_comparable(source.requested, mine.requested) &&
        requests_.are_comparable(source.assigned, mine.assigned)) {
      overruled_by_[root(i)] = from;
      mine.requested = requests_.specialised(requests_.specialised(source.requested, mine.resource), mine.assigned);
    }
    try {
      unite(from, i, p_.soft);
    } catch (const clash& c) {
      throw refusal(i, both + ", but the two cannot stand on one device: " + c.why);
    }
  }
}

// A node joins the groups it lists, or, where it lists none, the group that bears the node's name.
inline void group_builder::unite_listed() {
  std::unordered_map<std::string_view, position> first;
  for (const node_id id : p_.nodes)
    for (const std::string& key : p_.graph[id].colocation) first.emplace(key, absent);
  if (first.empty()) return;
  for (position i = 0; i < p_.nodes.size(); ++i) {
    const node& n = at(i);
    for (const std::string& key : n.colocation) join(first, key, i);
    if (n.colocation.empty() && first.count(n.name)) join(first, n.name, i);
  }
}
inline void group_builder::join(std::unordered_map<std::string_view, position>& first, std::string_view key,
                                position i) {
  position& other = first.find(key)->second;
  if (other == absent) {
    other = i;
    return;
  }
  try {
    unite(other, i, p_.soft);
  } catch (const clash& c) {
    const std::string why = "'" + at(i).name + "' must stand with '" + at(other).name + "', but " + c.why;
    if (!p_.soft) throw refusal(i, why + "; soft placement would let them stand apart");
    std::string& note = dropped_[i];
    note += (note.empty() ? "" : "; ") + ("its colocation with '" + at(other).name + "' was dropped: " + c.why);
  }
}

// Merges the groups of two nodes. Throws a clash where they cannot stand together, and leaves both as they were then.
inline void group_builder::unite(position a, position b, bool soft) {
  const position x = root(a), y = root(b);
  if (x == y || released_for(x, y)) return;
  link(x, y, shared_demand(a, b, soft));
}

// True where earlier runs put two groups on different devices and one of them keeps no state there: that group is
// marked, and the pass is repeated with its nodes released.
inline bool group_builder::released_for(position x, position y) {
  const group_demand &mine = demand_of_[x], &theirs = demand_of_[y];
  if (mine.keeps_state && theirs.keeps_state) return false;
  if (requests_.merged(mine.assigned, theirs.assigned, false)) return false;
  if (!mine.keeps_state) release_[x] = true;
  if (!theirs.keeps_state) release_[y] = true;
  return true;
}

// Returns what the groups of two nodes demand together. Throws a clash where no device can meet both.
inline group_demand group_builder::shared_demand(position a, position b, bool soft) {
  const group_demand &mine = demand_of_[root(a)], &theirs = demand_of_[root(b)];
  const auto assigned = requests_.merged(mine.assigned, theirs.assigned, false);
  if (!assigned)
    throw clash{"the one must stay on " + to_string(requests_[mine.assigned]) + " and the other on " +
                to_string(requests_[theirs.assigned]) + ", where earlier runs put them"};
  const auto resource = requests_.merged(mine.resource, theirs.resource, false);
  if (!resource) throw clash{both_ask(a, mine.resource, b, theirs.resource)};
  if (!requests_.are_comparable(*assigned, *resource))
    throw clash{"an earlier run put one of them on " + to_string(requests_[*assigned]) + ", and another asks for " +
                to_string(requests_[*resource])};
  const auto requested = requests_.merged(mine.requested, theirs.requested, soft);
  if (!requested) throw clash{both_ask(a, mine.requested, b, theirs.requested)};
  const kernel_pool::id kernels = kernels_.common(mine.kernels, theirs.kernels);
  if (kernels == kernel_pool::none)
    throw clash{"no device type supports both '" + at(a).name + "' (" + types_of(mine.kernels) + ") and '" +
                at(b).name + "' (" + types_of(theirs.kernels) + ")"};
  return {.assigned = *assigned,
          .resource = *resource,
          .requested = requests_.specialised(requests_.specialised(*requested, *resource), *assigned),
          .kernels = kernels,
          .needs = mine.needs | theirs.needs,
          .keeps_state = mine.keeps_state || theirs.keeps_state};
}
inline std::string group_builder::both_ask(position a, request_pool::id of_a, position b, request_pool::id of_b) {
  return "'" + at(a).name + "' asks for " + to_string(requests_[of_a]) + " and '" + at(b).name + "' for " +
         to_string(requests_[of_b]);
}
inline std::string group_builder::types_of(kernel_pool::id kernels) {
  std::string text;
  for (const auto& e : kernels_[kernels])
    text += (text.empty() ? "" : " or ") + kernels_.types()[static_cast<std::size_t>(e.type)];
  return text;
}

// Makes one group of two, which has the demand. The tree of the deeper one takes in the other.
inline void group_builder::link(position x, position y, const group_demand& demand) {
  const position top = depth_[x] < depth_[y] ? y : x, below = top == x ? y : x;
  depth_[top] = static_cast<std::uint8_t>(std::max<int>(depth_[top], depth_[below] + 1));
  parent_[below] = top;
  demand_of_[top] = demand;
  release_[top] = release_[top] || release_[below];
  if (overruled_by_[top] == absent) overruled_by_[top] = overruled_by_[below];
}

// Notes the requests that the groups of their nodes do not share.
inline void group_builder::note_dropped() {
  for (position i = 0; i < p_.nodes.size(); ++i) {
    const request_pool::id held = demand_of_[root(i)].requested;
    if (own_[i] == request_pool::nothing || own_[i] == held) continue;
    if (is_kept(i)) continue;
    const node& n = at(i);
    const device_spec& shared = requests_[held];
    if (is_specification(n.requested, shared)) continue;
    const position by = overruled_by_[root(i)];
    std::string& note = dropped_[i];
    note += (note.empty() ? "" : "; ") + ("its request " + to_string(n.requested) + " was ");
    if (compatible(n.requested, shared) && demand_of_[root(i)].assigned == request_pool::nothing)
      note += "loosened, since those that must stand with it ask for something else";
    else if (by != absent)
      note += "dropped: it works on '" + at(by).name + "', which asks for " + to_string(shared);
    else
      note += "dropped: what must stand with it asks for " + (shared.empty() ? "something else" : to_string(shared));
  }
}

// Numbers the groups in the order of their first members, and lists the members of each.
inline void group_builder::number() {
  const auto n = p_.nodes.size();
  std::vector<group> of_root(n, ~group{0});
  r_.group_of.resize(n);
  for (position i = 0; i < n; ++i) {
    group& g = of_root[root(i)];
    if (g == ~group{0}) {
      g = static_cast<group>(r_.demands.size());
      r_.demands.push_back(demand_of_[root(i)]);
    }
    r_.group_of[i] = g;
  }
  r_.begin.assign(r_.demands.size() + 1, 0);
  for (const group g : r_.group_of) ++r_.begin[g + 1];
  std::partial_sum(r_.begin.begin(), r_.begin.end(), r_.begin.begin());
  r_.members.resize(n);
  auto next = r_.begin;
  for (position i = 0; i < n; ++i) r_.members[next[r_.group_of[i]]++] = i;
}

// The leader of a group is the first member whose request holds for all of it; or else the resource that an op outside
// the problem decides for; or else the first member that an earlier run placed; or else the first member.
inline void group_builder::note_leaders() {
  r_.leads.resize(r_.demands.size());
  const bool none_kept = p_.kept.empty();
  for (position i = 0; i < p_.nodes.size(); ++i) {
    const group g = r_.group_of[i];
    if (r_.leads[g].by == placement_reason::requested) continue;
    const request_pool::id own = own_[i], held = r_.demands[g].requested;
    if (own != request_pool::nothing && (own == held || is_specification(requests_[own], requests_[held])))
      lead(g, i, placement_reason::requested);
    else
      lead(g, i, none_kept || !is_kept(i) ? placement_reason::first_device : placement_reason::kept);
  }
  for (const auto& [i, user] : r_.asked_outside) lead(r_.group_of[i], i, placement_reason::outside);
}
inline void group_builder::lead(group g, position member, placement_reason::kind by) {
  group_lead& now = r_.leads[g];
  if (now.member == absent || by > now.by) now = {member, by};
}

}}}  // namespace pinion::v0::detail
