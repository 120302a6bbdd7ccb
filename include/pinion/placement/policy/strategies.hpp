// Which ps task gets the next variable: the strategies of a replica_device_setter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <pinion/base/md5.hpp>
#include <pinion/graph/node.hpp>

namespace pinion::inline v0 {

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

// To the task that has the least load so far, the first of several. The load of an op: its bytes, unless given; an op
// whose shape is not known then counts as one element.
struct greedy_load_balancing {
  std::function<double(const node_view&)> load = [](const node_view& op) {
    return static_cast<double>(std::max<std::int64_t>(op.bytes(), static_cast<std::int64_t>(size_of(op.dtype()))));
  };
  std::vector<double> loads = {};

  int operator()(const node_view& op, int tasks) {
    loads.resize(static_cast<std::size_t>(tasks));
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += load(op);
    return static_cast<int>(least - loads.begin());
  }
};

// By its name alone, so that it does not matter what else there is: the MD5 digest of "NAME_SEED" modulo the tasks.
struct hashed {
  int seed = 0;

  int operator()(const node_view& op, int tasks) const {
    std::uint64_t rest = 0;
    for (const unsigned char byte : md5(std::string(op.name()) + "_" + std::to_string(seed)))
      rest = (rest * 256 + byte) % static_cast<std::uint64_t>(tasks);
    return static_cast<int>(rest);
  }
};

}  // namespace pinion::inline v0
