// The strategies of a replica_device_setter, which choose the ps task of each variable.
#pragma once

#include <concepts>
#include <functional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// A ps strategy is a function object from an op and the number of ps tasks to a task. It is called once for each op
// that goes to a ps task, in the order in which ops are made. Sources: TensorFlow 1.15, device_setter.py and
// contrib/training/python/training/device_setter.py. Its answer is in [0, tasks). A strategy may keep state, and is
// copied into the setter.
template <class S>
concept ps_strategy = requires(S& choose, const node_view& op, int tasks) {
  { choose(op, tasks) } -> std::convertible_to<int>;
};

// Tasks in turn: 0, 1, 2, 0, 1, 2, ... `next` is the number of calls so far; another beginning spreads several models
// over the same tasks.
struct round_robin {
  int next = 0;
  int operator()(const node_view&, int tasks) { return next++ % tasks; }
};

// The task that has the least load so far, the first of several. The load of an op is `load` of it, or its bytes where
// no function is given; an op of unknown shape counts as one element then. Loads add up, in a unit of the caller's
// choice; `loads` may begin with those that tasks have already. The default is TensorFlow's byte_size_load_fn.
struct greedy_load_balancing {
  std::function<double(const node_view&)> load = {};
  std::vector<double> loads = {};

  int operator()(const node_view& op, int tasks);
};

// A task chosen by the op's name alone, whatever other ops there are: the MD5 digest of "NAME_SEED" modulo the tasks.
// Workers that build variables in different orders, or only some of them, agree on the tasks. The spread is even on
// average only; another seed deals anew.
struct hashed {
  int seed = 0;

  int operator()(const node_view& op, int tasks) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/policy/strategies.ipp>
#endif
