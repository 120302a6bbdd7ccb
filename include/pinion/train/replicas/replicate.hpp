// Replication in the graph: one graph holds a copy of the model for each worker, and one session runs it.
//
//   worker 0  replica_0 ──┐
//   worker 1  replica_1 ──┼── variables that they share, or have each for itself: ps
//   worker 2  replica_2 ──┘
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/placement/policy/replica_device_setter.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Calls build(0), build(1), ..., once for each worker, and returns their results in a vector. Each call is made under
// the name scope "replica_I" and under a replica_device_setter whose worker is the I-th device; one strategy deals the
// variables of all replicas out to the ps tasks. Without ps tasks everything that a replica makes is on its worker,
// variables too.
//
// Variables that were made before, and that several of the calls use, are shared. Variables that a call makes belong to
// its replica, and so do the slots of an optimizer that it makes. options.worker_device is ignored. Throws
// invalid_argument if there is no worker, and every exception of a call.
//
//   auto losses = tr::replicate({"/job:worker/task:0", "/job:worker/task:1"}, {.ps_tasks = 1},
//                               [&](int i) { return model(inputs[i]); });
template <ps_strategy Strategy = round_robin, class Build>
auto replicate(const std::vector<std::string>& workers, replica_device_setter_options options, Build build,
               Strategy strategy = {}, source_location where = source_location::current()) {
  static_assert(std::is_invocable_v<Build&, int>, "replicate takes a function of the replica's number");
  if (workers.empty()) throw error(errc::invalid_argument, "replicate was given no worker devices");
  const std::string job(parse_device(options.ps_device, where).job());
  const bool has_ps = options.cluster ? options.cluster->has(job) : options.ps_tasks > 0;
  std::vector<std::invoke_result_t<Build&, int>> towers;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const name_scope scope{"replica_" + std::to_string(i)};
    options.worker_device = workers[i];
    if (has_ps) {
      const device on{replica_device_setter<std::reference_wrapper<Strategy>>(options, std::ref(strategy), where),
                      where};
      towers.push_back(build(static_cast<int>(i)));
    } else {
      const device on{workers[i], where};
      towers.push_back(build(static_cast<int>(i)));
    }
  }
  return towers;
}

}}}  // namespace pinion::v0::train
