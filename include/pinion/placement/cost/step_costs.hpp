// The costs and edges of the nodes of a problem, looked up by position: what placers and simulations work on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/groups.hpp>
#include <pinion/placement/placement.hpp>

namespace pinion { inline namespace v0 {

// Computed once from a cost model. Refers to the problem; read by any thread. Memory grows with nodes and edges, and
// with the number of devices.
class step_costs {
 public:
  using position = placement_groups::position;

  // An edge of a value, or with output -1 a control edge.
  struct edge {
    position node;        // the other end
    std::int32_t output;  // of the producer
    float bytes;
  };

  step_costs(const placement_problem& p, const placement_groups& groups, const cost_model& model);
  // The costs of a problem that is placed. Requires: the nodes of the placement are those of the problem.
  step_costs(const placement_problem& p, const placement& placed, const cost_model& model);

  position nodes() const { return static_cast<position>(p_.nodes.size()); }
  int devices() const { return static_cast<int>(p_.devices.size()); }

  std::span<const edge> inputs(position i) const;
  std::span<const edge> consumers(position i) const;

  double seconds(position i, int device) const { return seconds_of_class(i, class_[static_cast<std::size_t>(device)]); }
  // Devices of one class have one type and speed.
  int classes() const { return static_cast<int>(speeds_.size()); }
  int class_of(int device) const { return class_[static_cast<std::size_t>(device)]; }
  double seconds_of_class(position i, int c) const;
  double mean_seconds(position i) const;
  // How far estimates are off for the nodes that were measured: the sum of the differences by that of the greater of
  // the two. 0 where all are right or nothing was measured, 1 at most.
  double error_of_estimates() const;
  // The part of all seconds of a placement that is estimated.
  double estimated_part(std::span<const std::int32_t> device) const;
  // Does the node take no time and need nothing of other groups, as a constant, a variable and its read?
  bool is_free_source(position i) const { return free_[i]; }

  double transfer(int from, int to, double bytes) const;
  // The mean over all pairs of devices.
  double mean_transfer(double bytes) const;
  int task_of(int device) const { return task_[static_cast<std::size_t>(device)]; }
  std::span<const int> devices_of_task(int task) const { return by_task_[static_cast<std::size_t>(task)]; }

  std::int64_t bytes_out(position i) const { return bytes_out_[i]; }  // of values
  std::int64_t state(position i) const { return state_[i]; }          // of a variable
  std::int64_t memory_limit(int device) const;

 private:
  double estimated(position i, std::size_t c) const;
  // Negative where the node was not measured.
  double measured(position i, std::size_t c) const {
    return measured_.empty() ? -1 : measured_[i * speeds_.size() + c];
  }
  const device_info& device(int d) const { return p_.devices[static_cast<std::size_t>(d)]; }
  const node& at(position i) const { return p_.graph[p_.nodes[i]]; }
  // `Groups` tells the group, the position and the facts of a node.
  template <class Groups>
  void know_all(const Groups& groups);
  void know_devices();
  template <class Groups>
  void know_nodes(const Groups& groups);
  template <class Groups>
  void know_edges(const Groups& groups);
  void know_measurements();

  const placement_problem& p_;
  const cost_model model_;
  std::vector<device_speed> speeds_;
  std::vector<std::string> types_;  // of classes
  std::vector<int> class_, task_;
  std::vector<std::vector<int>> by_task_;
  double share_within_ = 0;
  std::vector<double> work_, touched_;
  std::vector<bool> free_;
  std::vector<std::int64_t> bytes_out_, state_;
  std::vector<double> measured_;  // seconds by node and class, negative where not measured; empty if nothing was
  std::vector<std::size_t> in_begin_, out_begin_;
  std::vector<edge> in_, out_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/step_costs.ipp>
#endif
