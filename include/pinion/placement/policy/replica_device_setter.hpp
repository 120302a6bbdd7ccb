// replica_device_setter, the placement policy of data-parallel training: variables go to ps tasks, the rest to workers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/placement/policy/strategies.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// The strings are read as parse_device reads them, and are not kept. With `cluster`, ps_tasks is not looked at: it is
// the number of tasks of ps_device's job, or 0 where the cluster has no such job.
struct replica_device_setter_options {
  int ps_tasks = 0;  // how many; with a cluster, the tasks of ps_device's job there
  std::string_view ps_device = "/job:ps";
  std::string_view worker_device = "/job:worker";
  bool merge_devices = true;  // false: an op that already has a device keeps it as it is
  std::optional<cluster_spec> cluster = {};
  // The names of ops that go to ps tasks; all kinds of state where not given. They are names as op() gives them,
  // "VariableV2".
  std::optional<std::vector<std::string>> ps_ops = {};
};

namespace detail {

// The rules of a replica_device_setter that do not depend on its strategy.
class device_setter_rules {
 public:
  device_setter_rules(const replica_device_setter_options& o, source_location where);

  int tasks() const { return tasks_; }
  // Without ps tasks, and for an op that has a device where merge_devices is false, the policy answers with that
  // device.
  bool changes(const node_view& op) const { return tasks_ > 0 && (merge_ || op.device().empty()); }
  // Does the op go to a ps task, and does the strategy choose which? An op bound for another job is not counted.
  bool goes_to_ps(const node_view& op) const;
  bool asks_strategy(const node_view& op) const;
  // The strategy's answer overwrites even a task written in ps_device.
  device_spec on_ps(const node_view& op, int task) const { return merge(ps_.with_task(task), op.device()); }
  device_spec on_ps(const node_view& op) const { return merge(ps_, op.device()); }
  device_spec on_worker(const node_view& op) const { return merge(worker_, op.device()); }

 private:
  device_spec ps_, worker_;
  bool merge_;
  int tasks_;
  std::vector<std::string> ps_ops_;
};

}  // namespace detail

// A placement policy with state: it counts the ops that it sends to ps tasks. For one thread at a time. Without ps
// tasks it changes nothing. Fields that inner guards set win over its own; an op bound for another job is not counted
// of the strategy. The constructor throws invalid_argument on a bad device string and on a negative number of ps tasks.
// Source: TensorFlow 1.15, device_setter.py. Each variable, with its initialiser and read, gets a ps task of its own by
// the strategy; every other op gets worker_device. A worker's own task belongs into that: .worker_device =
// "/job:worker/task:2". All workers must build their variables in the same order, or take `hashed`, so that they agree
// where each variable is.
//
//   const pn::device on{pn::replica_device_setter{{.worker_device = "/job:worker/task:2", .cluster = cluster}}};
//   auto W = pn::variable(pn::zeros<float>({784, 10}), {.name = "W"});       // /job:ps/task:0
//   auto b = pn::variable(pn::zeros<float>({10}), {.name = "b"});            // /job:ps/task:1
//   auto y = pn::matmul(x, W) + b;                                           // /job:worker/task:2
//
// A guard refers to a setter given as an lvalue, so one setter can serve several guards and go on counting; a temporary
// one begins at task 0.
template <ps_strategy Strategy = round_robin>
class replica_device_setter {
 public:
  static constexpr std::string_view name = "replica_device_setter";

  // The strategy is given by type or by value: replica_device_setter<hashed>{{...}}, or with load functions as
  // replica_device_setter<greedy_load_balancing>{{...}, {.load = my_load}}.
  explicit replica_device_setter(const replica_device_setter_options& o, Strategy strategy = {},
                                 source_location where = source_location::current())
      : rules_(o, where), strategy_(std::move(strategy)) {}

  // The answer for one node, which guards ask for; it may be called by a policy of one's own as well.
  device_spec operator()(const node_view& op) {
    if (!rules_.changes(op)) return op.device();
    if (!rules_.goes_to_ps(op)) return rules_.on_worker(op);
    return rules_.asks_strategy(op) ? rules_.on_ps(op, strategy_(op, rules_.tasks())) : rules_.on_ps(op);
  }

 private:
  detail::device_setter_rules rules_;
  Strategy strategy_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/policy/replica_device_setter.ipp>
#endif
