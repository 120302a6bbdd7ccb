// In-graph replication: one graph that holds the model once for each worker, run by one session.
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

// What build(0), build(1), ... return: each is called under the name scope "replica_I" and a replica_device_setter
// whose worker is the I-th device; one strategy deals the variables of all replicas out to the ps tasks. Without ps
// tasks what a replica makes stands on its worker, variables too. Variables made before, which several of the builds
// use, are shared; those that a build makes are its own, and so are the slots of an optimizer that it makes. The
// worker_device of the options is not looked at. Throws invalid_argument where there is no worker, and what builds
// throw.
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
