// Bodies of <pinion/placement/plan/explain.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pinion/autodiff/recomputed_parts.hpp>
#include <pinion/base/arithmetic.hpp>
#include <pinion/op/elementwise/cuda_ahead.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/refusals.hpp>
#include <pinion/opkit/registry.hpp>
#include <pinion/placement/cost/simulate.hpp>
#include <pinion/placement/plan/explain.hpp>
#include <pinion/placement/unmet_request.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Finds the records of nodes that are asked for in ascending order, in one pass over all records.
template <class Record>
class record_walk {
 public:
  explicit record_walk(const std::vector<std::pair<node_id, Record>>& all) : next_(all.begin()), end_(all.end()) {}
  // Null for a node without a record.
  const Record* of(node_id id) {
    while (next_ != end_ && next_->first < id) ++next_;
    return next_ != end_ && next_->first == id ? &next_->second : nullptr;
  }

 private:
  typename std::vector<std::pair<node_id, Record>>::const_iterator next_, end_;
};

// How the kernel of a node is made, as placed_node::kernel has it. A worker's binary may hold other compiled programs
// than this one, and this process knows what was refused on its own GPUs.
inline std::string kernel_in_words(const node& n, const device_info& on) {
  const auto* found = n.attrs.find("program");
  const auto* program = found ? found->get_if<op::shared_program>() : nullptr;
  const auto has = [&](std::string_view library) {
    return std::find(on.libraries.begin(), on.libraries.end(), library) != on.libraries.end();
  };
  if (!on.is_cuda)
    return program && on.spec.type() == "CPU" && !scalar::find_compiled(scalar::executable(**program)) ? "interpreted"
                                                                                                       : "";
  if (program && op::find_ahead(scalar::executable(**program))) return "CUDA ahead of time";
  if (program && !has("NVRTC")) return "CUDA, interpreted";
  if (program) return is_refused(n) ? "CUDA, interpreted, since its code was refused" : "CUDA by NVRTC";
  const definition& def = definition_of(n.op);
  if (def.gpu_library.empty()) return "CUDA";
  const std::string library(def.gpu_library), without("CUDA " + std::string(def.without_library));
  if (!has(library)) return without;
  return is_refused(n) ? without + ", since " + library + " refused it" : "CUDA by " + library;
}

inline std::string why_unrecorded(const node& n, const device_info& on) {
  if (!on.is_cuda) return "";
  return find_registered(n.op) ? "the op is the program's own" : std::string(definition_of(n.op).no_replay);
}

// Words the reasons that a placement recorded.
class reason_words {
 public:
  reason_words(const placement_problem& p, const placement& placed)
      : p_(p), placed_(placed), dropped_(placed.dropped()), unmet_(placed.unmet()) {}

  // Fills in where the i-th node goes, and why. Requires: nodes are told in ascending order.
  void tell(std::size_t i, placed_node& row) {
    const node_id id = p_.nodes[i];
    const node& n = p_.graph[id];
    const device_info& d = placed_.device(i);
    const placement_reason why = placed_.reason(i);
    const std::string* const dropped = dropped_.of(id);
    const unmet_request* const unmet = unmet_.of(id);
    row.requested = to_string(n.requested);
    row.device = d.name;
    row.device_index = placed_.device_index(i);
    row.refused = refusals(n, d, why);
    row.fallback = unmet != nullptr;
    if (unmet)
      row.reason =
          "fallback from " + row.requested + ": " + (dropped ? *dropped : to_sentence(*unmet, p_, id, n.requested));
    else
      row.reason =
          (why.leader == id ? of_leader(why) : "with " + p_.graph[why.leader].name) + (dropped ? "; " + *dropped : "");
  }

 private:
  // Devices that the request allows, but where the node has no kernel.
  std::vector<std::string> refusals(const node& n, const device_info& taken, const placement_reason& why) const {
    std::vector<std::string> refused;
    for (const int index : why.refused) {
      const device_info& d = p_.devices[static_cast<std::size_t>(index)];
      if (d.name != taken.name && !p_.ops.facts(n).has_kernel(n.op, d))
        refused.push_back(d.name + ": " + p_.ops.missing_on(n, d));
    }
    return refused;
  }
  std::string of_leader(const placement_reason& why) const {
    switch (why.by) {
      case placement_reason::requested: return asked_by(p_.graph[why.leader]);
      case placement_reason::outside: {
        const node& culprit = p_.graph[why.culprit];
        return "with " + culprit.name + ", which this step does not run: " + asked_by(culprit);
      }
      case placement_reason::kept: return "kept from an earlier run";
      case placement_reason::placer: return why.words.empty() ? "chosen by the placer" : std::string(why.words);
      case placement_reason::only_kernel:
        return "only kernel" + (why.culprit == why.leader ? "" : " of " + p_.graph[why.culprit].name);
      case placement_reason::first_device: break;
    }
    return "first device";
  }
  static std::string asked_by(const node& n) {
    if (n.request_reason.empty()) return "pinned";
    if (n.request_reason.starts_with("node ")) return "with " + n.request_reason.substr(5);
    return (n.request_reason.starts_with("forward op ") ? "with " : "pinned by ") + n.request_reason;
  }

  const placement_problem& p_;
  const placement& placed_;
  record_walk<std::string> dropped_;
  record_walk<unmet_request> unmet_;
};

// Writes the plan of a placed problem. Rows are the problem's nodes; figures are those of the nodes that run, which are
// the same unless a pass rewrote the step.
class plan_writer {
 public:
  plan_writer(const placement_problem& p, const placement& placed, const placement_problem& runs,
              const placement& runs_placed, std::span<const node_fate> fates, const cost_model& model)
      : p_(p),
        words_(p, placed),
        runs_(runs),
        placed_(runs_placed),
        fates_(fates),
        costs_(runs, runs_placed, model),
        receive_ahead_(model.receive_ahead),
        step_(simulate(costs_, runs_placed.device_indices(), model.receive_ahead)) {}

  plan write() {
    std::vector<placed_node> rows;
    rows.reserve(p_.nodes.size());
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) rows.push_back(row(i));
    return plan(p_.devices, std::move(rows), figures());
  }

 private:
  using position = step_costs::position;

  placed_node row(std::size_t i) {
    const node& n = p_.graph[p_.nodes[i]];
    const node_fate fate = fates_.empty() ? node_fate{} : fates_[i];
    placed_node told{.id = p_.nodes[i], .name = n.name, .op = n.op, .location = to_string(n.where)};
    words_.tell(i, told);
    told.optimized = in_words(fate);
    told.runs = fate.what == node_fate::runs || fate.what == node_fate::apart || fate.what == node_fate::computed;
    if (told.runs) {
      tell_sizes(static_cast<position>(row_of_.size()), told);
      row_of_.push_back(static_cast<std::uint32_t>(i));
    }
    return told;
  }
  std::string in_words(const node_fate& fate) const {
    switch (fate.what) {
      case node_fate::computed: return "computed once, before the step";
      case node_fate::folded: return "folded into " + p_.graph[fate.by].name;
      case node_fate::apart: return "not folded into " + p_.graph[fate.by].name + ", since " + in_words(fate.why);
      case node_fate::shared: return "runs as " + p_.graph[fate.by].name;
      case node_fate::unused: return "left out, since nothing that runs reads it";
      case node_fate::runs: break;
    }
    return "";
  }
  static std::string in_words(node_fate::obstacle why) {
    switch (why) {
      case node_fate::fetched: return "it is fetched";
      case node_fate::several_readers: return "it is read more than once";
      case node_fate::ordered: return "one of them waits for other nodes";
      case node_fate::other_device: return "that runs on another device";
      case node_fate::cast: return "that computes in another dtype";
      case node_fate::other_shape: return "their shapes may differ";
      case node_fate::too_large: return "both are too large for one node";
      case node_fate::not_compiled: return "this binary has no kernel of both together";
      case node_fate::none: break;
    }
    return "";
  }
  // Fills in the op, sizes and times of the j-th node that runs.
  void tell_sizes(position j, placed_node& told) const {
    const node& n = runs_.graph[runs_.nodes[j]];
    told.op = n.op;
    const device_info& on = p_.devices[static_cast<std::size_t>(placed_.device_index(j))];
    told.kernel = kernel_in_words(n, on);
    told.unrecorded = why_unrecorded(n, on);
    told.starts = step_.start[j];
    told.ends = step_.finish[j];
    for (const auto& in : n.inputs)
      if (const output_type& t = runs_.graph.type_of(in); !t.reference)
        told.bytes_in = saturated_sum(told.bytes_in, t.bytes());
    for (const auto& o : n.outputs) {
      std::int64_t& all = o.reference ? told.state : told.bytes_out;
      all = saturated_sum(all, o.bytes());
    }
  }

  plan_figures figures() const {
    plan_figures f{.soft = p_.soft, .makespan = step_.makespan};
    f.totals.resize(p_.devices.size());
    for (std::size_t d = 0; d < p_.devices.size(); ++d) {
      f.totals[d].seconds = step_.busy[d];
      f.totals[d].peak = step_.peak[d];
      if (step_.peak[d] < step_.unlimited_peak[d])
        f.notes.push_back(p_.devices[d].name + " receives values at most " + std::to_string(receive_ahead_) +
                          " bytes ahead of their readers: it needs " + std::to_string(step_.peak[d]) +
                          " bytes at most, and else " + std::to_string(step_.unlimited_peak[d]));
    }
    for (position j = 0; j < runs_.nodes.size(); ++j) {
      device_total& t = f.totals[static_cast<std::size_t>(placed_.device_index(j))];
      ++t.nodes;
      t.variables = saturated_sum(t.variables, costs_.state(j));
      for (const auto& e : costs_.inputs(j))
        f.edges.push_back({row_of_[e.node], row_of_[j], static_cast<std::int64_t>(e.bytes), e.output < 0});
    }
    for (const auto& t : step_.transfers) {
      const node& from = runs_.graph[runs_.nodes[t.from]];
      f.transfers.push_back({t.output < 0 ? from.name + " is done" : output_name(from, t.output), t.from_device,
                             t.to_device, static_cast<std::int64_t>(t.bytes)});
    }
    return f;
  }

  const placement_problem& p_;
  reason_words words_;
  const placement_problem& runs_;
  const placement& placed_;  // of what runs
  const std::span<const node_fate> fates_;
  const step_costs costs_;
  const std::int64_t receive_ahead_;
  const simulated_step step_;
  std::vector<std::uint32_t> row_of_;  // of the nodes that run
};

}  // namespace detail

PINION_DECL cost_model costs_of(const placement& placed) {
  return placed.costs() ? *placed.costs() : cost_model{};
}

PINION_DECL plan explain(const placement_problem& problem, const placement& placed, const cost_model& costs) {
  return detail::plan_writer(problem, placed, problem, placed, {}, costs).write();
}

PINION_DECL plan explain(const placement_problem& problem, const placement& placed, const rewritten_step& step,
                         const cost_model& costs) {
  const placement_problem runs{.graph = step.graph,
                               .nodes = step.placed.nodes(),
                               .devices = problem.devices,
                               .soft = problem.soft,
                               .ops = problem.ops};
  return detail::plan_writer(problem, placed, runs, step.placed, step.fates, costs).write();
}

namespace detail {

inline std::string so_many_nodes(int n) {
  return std::to_string(n) + (n == 1 ? " node" : " nodes");
}

inline void note_idle_policies(plan& p, graph_view g) {
  for (const auto& use : g.policies()) {
    if (use->matched > 0) continue;
    const std::string name = use->name.empty() ? "" : " " + std::string(use->name);
    p.add_note("policy" + name + " at " + to_string(use->where) + " was asked about " + so_many_nodes(use->asked) +
               " and changed none");
  }
}

// An open guard under which nothing was made yet may place something later, and is not noted.
inline void note_idle_guards(plan& p, graph_view g) {
  for (const auto& use : g.guards()) {
    if (use->matched > 0 || (use->asked == 0 && !use->closed)) continue;
    p.add_note("guard at " + to_string(use->where) + " placed nothing: " +
               (use->asked == 0
                    ? "no node was made while it lived, but for such as stand with another"
                    : "for " + so_many_nodes(use->asked) + " made while it lived other guards or policies decided"));
  }
}

inline void note_taken_names(plan& p, graph_view g) {
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

PINION_DECL void note_doubts(plan& p, graph_view g) {
  detail::note_idle_policies(p, g);
  detail::note_idle_guards(p, g);
  detail::note_taken_names(p, g);
}

PINION_DECL void note_recomputed(plan& p, graph& g) {
  std::vector<node_id> ids;
  for (const placed_node& n : p.nodes()) ids.push_back(n.id);
  for (const recomputed_part& part : recomputed_parts(g, ids)) p.add_note(to_string(part));
}

}}  // namespace pinion::v0
