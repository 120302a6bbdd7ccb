// The placement policy of data-parallel training: variables go to ps tasks, everything else to workers.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/graph/node.hpp>
#include <pinion/placement/policy/strategies.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion::inline v0 {

struct replica_device_setter_options {
  int ps_tasks = 0;  // how many; with a cluster, the tasks of ps_device's job there
  std::string_view ps_device = "/job:ps";
  std::string_view worker_device = "/job:worker";
  bool merge_devices = true;  // false: an op that already has a device keeps it as it is
  std::optional<cluster_spec> cluster = {};
  std::optional<std::vector<std::string>> ps_ops =
      {};  // op names that go to ps tasks; the default is all kinds of state
};

// A placement policy with state: it counts the ops it sends to ps tasks. For one thread at a time. Without ps tasks it
// changes nothing. Fields that guards inside it set win over its own; an op bound for another job takes no turn of the
// strategy. A bad device string, or fewer than no ps tasks, throws invalid_argument
// when it is made. Source: TensorFlow 1.15, device_setter.py.
template <ps_strategy Strategy = round_robin>
class replica_device_setter {
 public:
  static constexpr std::string_view name = "replica_device_setter";

  explicit replica_device_setter(const replica_device_setter_options& o, Strategy strategy = {},
                                 source_location where = source_location::current())
      : ps_(parse_device(o.ps_device, where)),
        worker_(parse_device(o.worker_device, where)),
        merge_(o.merge_devices),
        tasks_(o.ps_tasks),
        strategy_(std::move(strategy)) {
    if (o.cluster) tasks_ = o.cluster->has(ps_.job()) ? o.cluster->num_tasks(ps_.job()) : 0;
    if (tasks_ < 0)
      throw error(errc::invalid_argument, "replica_device_setter: ps_tasks is " + std::to_string(tasks_) + ", below 0")
          .called_at(to_string(where));
    if (o.ps_ops) ps_ops_ = *o.ps_ops;
  }

  device_spec operator()(const node_view& op) {
    const device_spec now = op.device();
    if (tasks_ == 0 || (!merge_ && !now.empty())) return now;
    return goes_to_ps(op) ? merge(ps_for(op, now), now) : merge(worker_, now);
  }

 private:
  bool goes_to_ps(const node_view& op) const {
    return !ps_.empty() && std::find(ps_ops_.begin(), ps_ops_.end(), op.op()) != ps_ops_.end();
  }
  // The strategy's answer overwrites even a task written in ps_device.
  device_spec ps_for(const node_view& op, const device_spec& now) {
    const bool asks = !ps_.job().empty() && (now.job().empty() || now.job() == ps_.job());
    return asks ? ps_.with_task(strategy_(op, tasks_)) : ps_;
  }

  device_spec ps_, worker_;
  bool merge_;
  int tasks_;
  Strategy strategy_;
  std::vector<std::string> ps_ops_{"Variable",
                                   "VariableV2",
                                   "AutoReloadVariable",
                                   "MutableHashTable",
                                   "MutableHashTableV2",
                                   "MutableHashTableOfTensors",
                                   "MutableHashTableOfTensorsV2",
                                   "MutableDenseHashTable",
                                   "MutableDenseHashTableV2",
                                   "VarHandleOp",
                                   "BoostedTreesEnsembleResourceHandleOp",
                                   "BoostedTreesQuantileStreamResourceHandleOp",
                                   "ResourceConditionalAccumulator"};
};

}  // namespace pinion::inline v0
