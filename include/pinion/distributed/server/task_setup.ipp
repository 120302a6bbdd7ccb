// Bodies of <pinion/distributed/server/task_setup.hpp>.
#pragma once

#include <algorithm>
#include <thread>

#include <pinion/distributed/server/task_setup.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::string job_of(const cluster_spec& cluster, const server_options& options) {
  const auto jobs = cluster.jobs();
  if (options.job.empty() && jobs.size() != 1)
    throw error(errc::invalid_argument,
                "the cluster has " + std::to_string(jobs.size()) + " jobs; a server must say of which it is a task");
  const std::string job = options.job.empty() ? jobs[0] : options.job;
  cluster.address(job, options.task);  // throws not_found, and says what there is
  return job;
}

PINION_DECL const security_options& security_of(const server_options& options) {
  return options.security == security_options{} ? options.config.security : options.security;
}

namespace detail {

// The number of tasks of the cluster on the machine of one of them, judged by their addresses.
inline int tasks_beside(const cluster_spec& cluster, const std::string& its_job, int its_number) {
  const std::string host = rpc::endpoint(cluster.address(its_job, its_number)).host;
  int n = 0;
  for (const auto& job : cluster.jobs())
    for (int task : cluster.task_indices(job)) n += rpc::endpoint(cluster.address(job, task)).host == host;
  return n;
}

}  // namespace detail

PINION_DECL server_threads threads_of(const cluster_spec& cluster, const std::string& job,
                                      const server_options& options) {
  const int cores = std::max(
      1, static_cast<int>(std::thread::hardware_concurrency()) / detail::tasks_beside(cluster, job, options.task));
  const auto threads = [&](int wanted) { return wanted > 0 ? wanted : cores; };
  // The network's thread does not compute, so the pool needs a thread at least.
  const int inter_op = threads(options.config.inter_op_threads),
            intra_op = threads(options.config.intra_op_threads) - 1;
  return {.builders = std::max(2, inter_op), .alarms = 1, .inter_op = inter_op, .intra_op = intra_op};
}

}}}  // namespace pinion::v0::distributed
