// The placements of a session's steps: plan() explains the one that run() cuts.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/any_placer.hpp>
#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Places the steps of a session, each once. Owned by the session, whose lock guards it.
//
// Nodes that ran keep their devices, so the placement of a step that ran holds for good. The placement of a step that
// was only planned is made anew once the graph or the devices have changed, or other steps put its nodes elsewhere.
class placed_steps {
 public:
  // The job and task of `home` are preferred where a request names neither; with `soft`, requests may be loosened.
  placed_steps(any_placer placer, device_spec home, bool soft);

  // Returns the placement of a step. Plans know no feeds, so a step with feeds that was planned without them is placed
  // as planned. Throws what the placer throws.
  placement place(graph_view g, const step_signature& signature, std::vector<device_info> devices);
  // Tells that a step runs as it was placed. Returns the indices of its nodes that no earlier step ran, ascending.
  // Requires: the step was placed.
  std::vector<std::size_t> run(const step_signature& signature);

 private:
  struct placed_step {
    placement placed;
    std::uint64_t changes = 0;  // of the graph, when it was placed
    bool runs = false;
  };

  placement make(graph_view g, const step_signature& signature, std::vector<device_info> devices) const;
  // The devices of those among the nodes that ran. A step pays for its own nodes, however many others have run.
  std::unordered_map<node_id, std::string> kept_of(const std::vector<node_id>& nodes) const;
  // Returns null for a step that is to be placed anew.
  const placement* find(graph_view g, const step_signature& signature, const std::vector<device_info>& devices) const;
  bool agrees_with_runs(const placement& placed) const;

  const any_placer placer_;
  const device_spec home_;
  const bool soft_;
  std::unordered_map<node_id, std::string> kept_;  // the devices of nodes that ran
  std::unordered_map<step_signature, placed_step, signature_hash> steps_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/placed_steps.ipp>
#endif
