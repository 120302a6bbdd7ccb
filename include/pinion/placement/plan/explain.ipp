// Bodies of <pinion/placement/plan/explain.hpp>.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/base/arithmetic.hpp>
#include <pinion/placement/cost/simulate.hpp>
#include <pinion/placement/placing.hpp>
#include <pinion/placement/plan/explain.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

class explaining {
 public:
  explaining(const placement_problem& p, const placement& placed, const cost_model& model)
      : p_(p),
        placed_(placed),
        work_(p),
        costs_(p, work_.groups(), model),
        step_(simulate(costs_, placed.device_indices())) {}

  placed_node tell(placing::position i) {
    const node& n = work_.groups().at(i);
    const device_info& d = placed_.device(i);
    placed_node told{.id = p_.nodes[i],
                     .name = n.name,
                     .op = n.op,
                     .requested = to_string(n.requested),
                     .device = d.name,
                     .device_index = placed_.device_index(i),
                     .fallback = !is_specification(n.requested, d.spec),
                     .location = to_string(n.where),
                     .starts = step_.start[i],
                     .ends = step_.finish[i]};
    for (const auto& in : n.inputs)
      if (const output_type& t = p_.graph.type_of(in); !t.reference)
        told.bytes_in = saturated_sum(told.bytes_in, t.bytes());
    for (const auto& o : n.outputs) {
      std::int64_t& all = o.reference ? told.state : told.bytes_out;
      all = saturated_sum(all, o.bytes());
    }
    told.refused = refusals(i, d);
    told.reason = reason(i, told);
    return told;
  }

  plan_figures figures() const {
    plan_figures f{.soft = p_.soft, .makespan = step_.makespan};
    f.totals.resize(p_.devices.size());
    for (std::size_t d = 0; d < p_.devices.size(); ++d) {
      f.totals[d].seconds = step_.busy[d];
      f.totals[d].peak = step_.peak[d];
    }
    for (placing::position i = 0; i < p_.nodes.size(); ++i) {
      device_total& t = f.totals[static_cast<std::size_t>(placed_.device_index(i))];
      ++t.nodes;
      t.variables = saturated_sum(t.variables, costs_.state(i));
      for (const auto& e : costs_.inputs(i))
        f.edges.push_back({e.node, i, static_cast<std::int64_t>(e.bytes), e.output < 0});
    }
    for (const auto& t : step_.transfers)
      f.transfers.push_back({t.output < 0 ? work_.groups().at(t.from).name + " is done"
                                          : output_name(work_.groups().at(t.from), t.output),
                             t.from_device, t.to_device, static_cast<std::int64_t>(t.bytes)});
    return f;
  }

 private:
  // Devices that its own request allows, but its op does not.
  std::vector<std::string> refusals(placing::position i, const device_info& taken) const {
    const node& n = work_.groups().at(i);
    std::vector<std::string> refused;
    for (const auto& d : p_.devices)
      if (d.name != taken.name && is_specification(n.requested, d.spec) && !work_.has_kernel(i, d))
        refused.push_back(d.name + ": " + work_.missing(i, d));
    return refused;
  }
  // Whom the others of a group follow: its first member, unless only a later one was asked for.
  placing::position leader(placing::group g) const {
    const placement_groups& groups = work_.groups();
    const auto all = groups.members(g);
    const device_spec& shared = groups.requests()[groups.demand(g).requested];
    const auto asked = [&](placing::position m) {
      return !groups.at(m).requested.empty() && is_specification(groups.at(m).requested, shared);
    };
    const auto at = std::find_if(all.begin(), all.end(), asked);
    return at == all.end() ? all[0] : *at;
  }
  static std::string asked_by(const node& n) {
    if (n.request_reason.empty()) return "pinned";
    if (n.request_reason.starts_with("node ")) return "with " + n.request_reason.substr(5);
    return (n.request_reason.starts_with("forward op ") ? "with " : "pinned by ") + n.request_reason;
  }
  std::string reason(placing::position i, const placed_node& told) {
    const placement_groups& groups = work_.groups();
    const node& n = groups.at(i);
    const auto leads = leader(groups.of(i));
    const auto given_up = groups.dropped().find(i);
    const std::string dropped = given_up == groups.dropped().end() ? "" : given_up->second;
    if (told.fallback)
      return "fallback from " + told.requested + ": " + (dropped.empty() ? work_.why_not(i, n.requested) : dropped);
    std::string text;
    if (leads != i)
      text = "with " + groups.at(leads).name;
    else if (!n.requested.empty())
      text = asked_by(n);
    else if (const node_id user = groups.asked_outside(i); user != no_node)
      text = "with " + p_.graph[user].name + ", which this step does not run: " + asked_by(p_.graph[user]);
    else if (const auto kept = p_.kept.find(told.id); kept != p_.kept.end() && kept->second == told.device)
      text = "kept from an earlier run";
    else if (!placed_.reason(i).empty())
      text = placed_.reason(i);
    else if (work_.candidates(groups.of(i)).front() != told.device_index)
      text = "chosen by the placer";
    else
      text = told.refused.empty() ? "first device" : "only kernel";
    return dropped.empty() ? text : text + "; " + dropped;
  }

  const placement_problem& p_;
  const placement& placed_;
  placing work_;
  step_costs costs_;
  simulated_step step_;
};

}  // namespace detail

PINION_DECL plan explain(const placement_problem& problem, const placement& placed, const cost_model& costs) {
  detail::explaining tell(problem, placed, costs);
  std::vector<placed_node> nodes;
  nodes.reserve(problem.nodes.size());
  for (placing::position i = 0; i < problem.nodes.size(); ++i) nodes.push_back(tell.tell(i));
  return plan(problem.devices, std::move(nodes), tell.figures());
}

namespace detail {

inline std::string so_many_nodes(int n) {
  return std::to_string(n) + (n == 1 ? " node" : " nodes");
}

inline void note_idle_policies(plan& p, const graph& g) {
  for (const auto& use : g.policies()) {
    if (use->matched > 0) continue;
    const std::string name = use->name.empty() ? "" : " " + std::string(use->name);
    p.add_note("policy" + name + " at " + to_string(use->where) + " was asked about " + so_many_nodes(use->asked) +
               " and changed none");
  }
}

// A guard that is open still, and under which nothing was made yet, may place something later.
inline void note_idle_guards(plan& p, const graph& g) {
  for (const auto& [line, use] : g.guards()) {
    if (use->matched > 0 || (use->asked == 0 && !use->closed)) continue;
    p.add_note("guard at " + to_string(use->where) + " placed nothing: " +
               (use->asked == 0
                    ? "no node was made while it lived, but for such as stand with another"
                    : "for " + so_many_nodes(use->asked) + " made while it lived other guards or policies decided"));
  }
}

inline void note_taken_names(plan& p, const graph& g) {
  constexpr int most = 3;
  int told = 0, untold = 0;
  for (const auto& [name, wanted] : g.renamed()) {
    const placed_node* const here = p.find(name);
    if (!here) continue;
    if (++told > most) {
      ++untold;
      continue;
    }
    const node_id owner = g.id_of(wanted);
    p.add_note("variable '" + name + "', made at " + here->location + ", was given the name '" + wanted +
               "', which was taken" + (owner == no_node ? "" : " at " + to_string(g[owner].where)));
  }
  if (untold > 0) p.add_note("of " + std::to_string(untold) + " more variables the names were taken, too");
}

}  // namespace detail

PINION_DECL void note_doubts(plan& p, const graph& g) {
  g.settle();
  detail::note_idle_policies(p, g);
  detail::note_idle_guards(p, g);
  detail::note_taken_names(p, g);
}

}}  // namespace pinion::v0
