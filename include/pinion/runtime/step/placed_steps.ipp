// Bodies of <pinion/runtime/step/placed_steps.hpp>.
#pragma once

#include <utility>

#include <pinion/runtime/step/placed_steps.hpp>
#include <pinion/runtime/step/prune.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL placed_steps::placed_steps(any_placer placer, device_spec home, bool soft)
    : placer_(std::move(placer)), home_(home), soft_(soft) {}

PINION_DECL placement placed_steps::place(graph_view g, const step_signature& signature,
                                          std::vector<device_info> devices) {
  if (const placement* const known = find(g, signature, devices)) return *known;
  placement made = make(g, signature, std::move(devices));
  steps_.insert_or_assign(signature, placed_step{made, g.changes()});
  return made;
}

PINION_DECL std::vector<std::size_t> placed_steps::run(const step_signature& signature) {
  placed_step& step = steps_.at(signature);
  step.runs = true;
  return keep(step.placed, kept_);
}

PINION_DECL placement placed_steps::make(graph_view g, const step_signature& signature,
                                         std::vector<device_info> devices) const {
  std::vector<node_id> nodes = prune(g, signature);
  if (!signature.feeds.empty())
    if (const placement* const planned = find(g, {{}, signature.fetches, signature.targets}, devices))
      return planned->part(nodes);
  auto kept = kept_of(nodes);
  return placer_(placement_problem{.graph = g,
                                   .nodes = std::move(nodes),
                                   .devices = std::move(devices),
                                   .kept = std::move(kept),
                                   .home = home_,
                                   .soft = soft_});
}

PINION_DECL std::unordered_map<node_id, std::string> placed_steps::kept_of(const std::vector<node_id>& nodes) const {
  std::unordered_map<node_id, std::string> kept;
  for (const node_id id : nodes)
    if (const auto at = kept_.find(id); at != kept_.end()) kept.insert(*at);
  return kept;
}

PINION_DECL const placement* placed_steps::find(graph_view g, const step_signature& signature,
                                                const std::vector<device_info>& devices) const {
  const auto at = steps_.find(signature);
  if (at == steps_.end()) return nullptr;
  const auto& [placed, changes, runs] = at->second;
  const bool holds = runs || (changes == g.changes() && placed.devices() == devices && agrees_with_runs(placed));
  return holds ? &placed : nullptr;
}

PINION_DECL bool placed_steps::agrees_with_runs(const placement& placed) const {
  for (std::size_t i = 0; i < placed.nodes().size(); ++i)
    if (const auto kept = kept_.find(placed.nodes()[i]); kept != kept_.end() && kept->second != placed.device(i).name)
      return false;
  return true;
}

}}}  // namespace pinion::v0::runtime
