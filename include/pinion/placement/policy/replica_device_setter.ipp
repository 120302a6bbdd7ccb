// Bodies of <pinion/placement/policy/replica_device_setter.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/placement/policy/replica_device_setter.hpp>

namespace pinion { inline namespace v0 { namespace detail {

// TensorFlow's list; of these ops the library has VariableV2 alone.
inline std::vector<std::string> usual_ps_ops() {
  return {"Variable",
          std::string(op::variable::name),
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
}

PINION_DECL device_setter_rules::device_setter_rules(const replica_device_setter_options& o, source_location where)
    : ps_(parse_device(o.ps_device, where)),
      worker_(parse_device(o.worker_device, where)),
      merge_(o.merge_devices),
      tasks_(o.ps_tasks),
      ps_ops_(o.ps_ops ? *o.ps_ops : usual_ps_ops()) {
  if (o.cluster) tasks_ = o.cluster->has(ps_.job()) ? o.cluster->num_tasks(ps_.job()) : 0;
  if (tasks_ < 0)
    throw error(errc::invalid_argument, "replica_device_setter: ps_tasks is " + std::to_string(tasks_) + ", below 0")
        .called_at(to_string(where));
}

PINION_DECL bool device_setter_rules::goes_to_ps(const node_view& op) const {
  return !ps_.empty() && std::find(ps_ops_.begin(), ps_ops_.end(), op.op()) != ps_ops_.end();
}

PINION_DECL bool device_setter_rules::asks_strategy(const node_view& op) const {
  const std::string_view job = op.device().job();
  return !ps_.job().empty() && (job.empty() || job == ps_.job());
}

}}}  // namespace pinion::v0::detail
