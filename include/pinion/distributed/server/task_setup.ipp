// Bodies of <pinion/distributed/server/task_setup.hpp>.
#pragma once

#include <algorithm>
#include <fstream>
#include <utility>

#include <pinion/base/descriptors.hpp>
#include <pinion/base/log.hpp>
#include <pinion/base/processors.hpp>
#include <pinion/distributed/server/task_setup.hpp>
#include <pinion/rpc/transport/network.hpp>
#include <pinion/spec/host_port.hpp>

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

// The number of tasks of a job on the machine of one of them, judged by their addresses. Those of another job are not
// counted: a worker waits while its ps works, and the other way round.
inline int tasks_beside(const cluster_spec& cluster, const std::string& job, int number) {
  const auto host_of = [&](int task) { return host_port(cluster.address(job, task)).canonical_host(); };
  const auto all = cluster.task_indices(job);
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [&, host = host_of(number)](int task) { return host_of(task) == host; }));
}

// The number of clients that a task takes: no more than it has descriptors for, of which each client takes two.
inline std::size_t clients_of(const server_limits& limits) {
  constexpr std::uint64_t of_others = 128;
  const auto wanted = static_cast<std::uint64_t>(std::max(limits.clients, 1)), most = most_descriptors();
  return std::min(wanted, most > of_others + 2 ? (most - of_others) / 2 : 1);
}

// The mappings that the slabs of clients may take: no more than a quarter of those that the system gives a process.
inline std::uint64_t mappings_of(const server_limits& limits) {
  std::uint64_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most > 0 ? std::min(limits.slabs_of_all, most / 4) : limits.slabs_of_all;
}

inline std::unique_ptr<rpc::listener> listen_on(rpc::network& net, const std::string& reached_at,
                                                const server_options& options, const rpc::credentials& shows) {
  const std::string& where = options.config.listen.empty() ? reached_at : options.config.listen;
  if (!host_port(where).valid())
    throw error(errc::invalid_argument, "a server listens on host:port, with a port from 0 to 65535, not on '" + where +
                                            "' (server_config.listen)");
  if (!host_port(where).is_loopback() && shows.empty())
    throw error(errc::failed_precondition,
                "others can reach " + where + ": a server there needs a key or TLS (.security, or PINION_KEY_FILE)");
  return net.listen(where);
}

}  // namespace detail

PINION_DECL server_threads threads_of(const cluster_spec& cluster, const std::string& job,
                                      const server_options& options) {
  const int cores = std::max(1, usable_processors() / detail::tasks_beside(cluster, job, options.task));
  const auto threads = [&](int wanted) { return wanted > 0 ? wanted : cores; };
  // The network's thread does not compute, so the pool needs a thread at least.
  const int inter_op = threads(options.config.inter_op_threads),
            intra_op = threads(options.config.intra_op_threads) - 1;
  return {.builders = std::max(2, inter_op), .alarms = 1, .inter_op = inter_op, .intra_op = intra_op};
}

PINION_DECL task_place listen_for(std::unique_ptr<rpc::listener> bound, rpc::network& net, const cluster_spec& cluster,
                                  const server_options& options, const rpc::credentials& shows) {
  std::string reached_at = cluster.address(job_of(cluster, options), options.task);
  if (!bound) bound = detail::listen_on(net, reached_at, options, shows);
  if (host_port(reached_at).port == 0) {
    const std::string& there = bound->address();
    reached_at = reached_at.substr(0, reached_at.rfind(':')) + there.substr(there.rfind(':'));
  }
  return {std::move(bound), std::move(reached_at)};
}

PINION_DECL void tell_of_certificate(const rpc::identity& me) {
  const std::string why = me.shows.tls ? me.shows.tls->why_not(me.name) : "";
  if (!why.empty()) write_log(log_level::warning, me.name, "its certificate " + why + ": other tasks refuse it");
}

PINION_DECL runtime::task_options task_options_of(const server_options& options, const std::string& name,
                                                  const server_threads& threads) {
  return {.name = parse_device(name),
          .cpu_devices = options.config.cpu_devices,
          .simulated = options.config.simulated,
          .gpu = options.config.gpu,
          .inter_op_helpers = threads.inter_op,
          .intra_op_helpers = threads.intra_op,
          .spare_threads = options.config.limits.threads};
}

PINION_DECL rpc::slab_limits slab_limits_of(const server_limits& limits) {
  return {.of_one = {limits.slabs, limits.slab_bytes},
          .of_all = {detail::mappings_of(limits), limits.slab_bytes_of_all},
          .lent_of_all = limits.bytes_lent_of_all};
}

PINION_DECL exchange_options exchange_options_of(const server_config& config) {
  return {
      .runs = {.early = static_cast<std::size_t>(config.limits.early_values), .early_bytes = config.limits.early_bytes},
      .credit = config.credit,
      .offered = config.limits.bytes_offered};
}

PINION_DECL rpc::channel_options way_options_of(const server_options& options, const rpc::identity& me,
                                                std::shared_ptr<rpc::traffic> traffic, std::string reached_at,
                                                std::shared_ptr<rpc::slab_account> slabs) {
  const auto beat = options.config.heartbeat;
  if (beat < std::chrono::milliseconds(1) || beat > rpc::longest_heartbeat)
    throw error(errc::invalid_argument, "a server's heartbeat is 1 ms to 60 s, not " + std::to_string(beat.count()) +
                                            " ms (server_config.heartbeat)");
  if (options.config.elastic && !host_port(reached_at).leads_somewhere())
    throw error(errc::invalid_argument, me.name + " would tell others that it is reached at " + reached_at +
                                            " (server_config.elastic), where they do not find it; write the host by " +
                                            "which they reach it");
  return {.me = me,
          .heartbeat = options.config.heartbeat,
          .allowed = {},
          .shared_memory = options.config.shared_memory,
          .traffic = std::move(traffic),
          .reached_at = options.config.elastic ? std::move(reached_at) : std::string(),
          .slabs = std::move(slabs)};
}

PINION_DECL rpc::acceptor_options acceptor_options_of(const server_options& options, const rpc::identity& me,
                                                      std::shared_ptr<rpc::traffic> traffic,
                                                      std::shared_ptr<recent_failures> failures,
                                                      std::shared_ptr<rpc::slab_account> slabs) {
  return {.me = me,
          .clients = detail::clients_of(options.config.limits),
          .allowed = {},
          .bytes_waiting = options.config.limits.bytes_waiting,
          .max_wait = std::max<rpc::duration>(std::chrono::seconds(10), 4 * options.config.heartbeat),
          .bytes_waiting_of_all = options.config.limits.bytes_waiting_of_all,
          .traffic = std::move(traffic),
          .shared_memory = options.config.shared_memory,
          .slabs = std::move(slabs),
          .log = [task = me.name, failures = std::move(failures)](const std::string& text) {
            write_log(log_level::warning, task, text);
            failures->add(text);
          }};
}

}}}  // namespace pinion::v0::distributed
