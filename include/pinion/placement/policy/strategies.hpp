// Which ps task gets the next variable: the strategies of a replica_device_setter.
#pragma once

#include <concepts>
#include <functional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// A ps strategy: a function object from an op and the number of ps tasks to a task. Called once for each op that goes
// to a ps task, in the order in which they are made. Sources: TensorFlow 1.15, device_setter.py and
// contrib/training/python/training/device_setter.py.
template <class S>
concept ps_strategy = requires(S& choose, const node_view& op, int tasks) {
  { choose(op, tasks) } -> std::convertible_to<int>;
};

// 0, 1, 2, 0, 1, 2, ...
struct round_robin {
  int next = 0;
  int operator()(const node_view&, int tasks) { return next++ % tasks; }
};

// To the task that has the least load so far, the first of several. The load of an op: where none is given its bytes;
// an op whose shape is not known then counts as one element.
struct greedy_load_balancing {
  std::function<double(const node_view&)> load = {};
  std::vector<double> loads = {};

  int operator()(const node_view& op, int tasks);
};

// By its name alone, so that it does not matter what else there is: the MD5 digest of "NAME_SEED" modulo the tasks.
struct hashed {
  int seed = 0;

  int operator()(const node_view& op, int tasks) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/policy/strategies.ipp>
#endif
