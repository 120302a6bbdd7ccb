// Requests that a placement does not meet: their cause, found while placing, and its wording for errors and plans.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/groups.hpp>
#include <pinion/placement/problem.hpp>
#include <pinion/placement/reason.hpp>

namespace pinion { inline namespace v0 {

// Finds why the group of a node has no device that meets a request. Remembers what groups lack, so that many nodes of
// few requests cost little. Refers to the problem and its groups; for one thread.
class unmet_finder {
 public:
  using position = placement_groups::position;

  unmet_finder(const placement_problem& p, const placement_groups& groups) : p_(p), groups_(groups) {}
  // Requires: the request is that of the node or of its group, and is not met. Never answers `dropped`.
  unmet_request find(position i, const device_spec& request);

 private:
  const std::vector<int>& answering(const device_spec& request);
  // A member without a kernel, and the device it was looked for on.
  std::optional<unmet_request> missing_kernel(placement_groups::group g, const std::vector<int>& devices);

  const placement_problem& p_;
  const placement_groups& groups_;
  std::map<std::string, std::vector<int>> answering_;  // by request
  std::map<std::pair<placement_groups::group, const std::vector<int>*>, std::optional<unmet_request>> missing_;
};

// "no such device; there are ...", "Neg has no int32 kernel on GPU; ...", for the node `id` and the request that is not
// met. Requires: the cause is not `dropped`, which is a note of its own.
std::string to_sentence(const unmet_request& unmet, const placement_problem& p, node_id id, const device_spec& request);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/unmet_request.ipp>
#endif
