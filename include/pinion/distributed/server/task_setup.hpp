// The meaning of a server's options in its cluster.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/server/options.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/distributed/worker/recent_failures.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The number of threads of a server, not counting the network's. All are 0 on a simulated network, where everything
// runs in the thread that waits.
struct server_threads {
  int builders = 0, alarms = 0;
  int inter_op = 0, intra_op = 0;  // threads of the task's pool that run items, and that help with loops
};

// Returns the job of a server, which options may leave out where the cluster has one. Throws invalid_argument where it
// has several, and not_found if it has no such task.
std::string job_of(const cluster_spec& cluster, const server_options& options);
// Returns the key and certificates of a server: its own, or those of its config.
const security_options& security_of(const server_options& options);
// Returns the threads of a server: those that it asks for, or its part of this machine's cores.
server_threads threads_of(const cluster_spec& cluster, const std::string& job, const server_options& options);
// Where a task listens, and the address by which the cluster reaches it: that in its spec, with the port that was bound
// where that has none.
struct task_place {
  std::unique_ptr<rpc::listener> listener;
  std::string address;
};
// Listens where the cluster reaches the task or where the options say, unless `bound` does so already. Throws
// failed_precondition where others can reach it, and the server shows no credentials.
task_place listen_for(std::unique_ptr<rpc::listener> bound, rpc::network& net, const cluster_spec& cluster,
                      const server_options& options, const rpc::credentials& shows);

// Writes a line where a task's certificate names other tasks alone, so that others refuse it.
void tell_of_certificate(const rpc::identity& me);

// The options of the parts of a server: its devices, its exchange, its ways to other tasks, and acceptor. The log and
// `failures` tell of those whom the acceptor refuses. Of slabs no more are mapped than the system has mappings for.
runtime::task_options task_options_of(const server_options& options, const std::string& name,
                                      const server_threads& threads);
rpc::slab_limits slab_limits_of(const server_limits& limits);
exchange_options exchange_options_of(const server_config& config);
rpc::channel_options way_options_of(const server_options& options, const rpc::identity& me,
                                    std::shared_ptr<rpc::traffic> traffic, std::string reached_at,
                                    std::shared_ptr<rpc::slab_account> slabs);
rpc::acceptor_options acceptor_options_of(const server_options& options, const rpc::identity& me,
                                          std::shared_ptr<rpc::traffic> traffic,
                                          std::shared_ptr<recent_failures> failures,
                                          std::shared_ptr<rpc::slab_account> slabs);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/task_setup.ipp>
#endif
