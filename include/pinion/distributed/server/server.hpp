// A server runs one task of a cluster in this process.
//
//   const pn::cluster_spec cluster{{"ps", {"10.0.0.1:2222"}}, {"worker", {"10.0.0.2:2222"}}};
//   pn::server server(cluster, {.job = "ps", .task = 0, .security = {.key = secret}});
//   server.join();
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/each_process.hpp>
#include <pinion/distributed/report/task_report.hpp>
#include <pinion/distributed/server/options.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion { inline namespace v0 {

namespace rpc {
class listener;
}
namespace distributed {
class task_server;
}

// One task of a cluster. It keeps variables, computes parts of steps for any session, and is the master of the sessions
// that target it. It serves from its construction on, in threads of its own.
//
// Ownership: a server owns its devices and their state, and sessions do not keep it alive. The destructor stops it.
//
// Threads: thread-safe, except for the destructor.
//
// Errors: the constructor throws invalid_argument if options.job is empty and the cluster has several jobs, not_found
// if the cluster has no such task, already_exists if the address is taken, failed_precondition if the address is not
// loopback and there is neither key nor TLS, and what security_options says of credentials that cannot be used.
//
// All processes are given the same cluster_spec and key, or certificates of the same authorities. A session may be
// opened on any of them; the server that it targets places its nodes on all tasks, and the others do their parts.
// Values go between the tasks directly.
//
//   pn::session sess{{.target = server.target(), .security = {.key = secret}}};       // in this or another process
class server {
 public:
  explicit server(const cluster_spec& cluster, const server_options& options = {});
  server(server&&) noexcept;
  // Stops the server. A task whose work has not ended after config.stop_timeout is kept in memory to the end of the
  // process, since that work still uses it.
  ~server();

  // Returns the target for sessions, such as "pinion://127.0.0.1:2222".
  std::string target() const;
  // Blocks until stop(), SIGINT, SIGTERM or a remote shutdown, and returns when the server has stopped. A signal counts
  // only if the program neither handles nor ignores it: then the monitored sessions of this process save, and after
  // that the server drains. A second signal, half a second later or more, ends the process at once. Throws what kept
  // config.keep from being written.
  void join();
  // Stops, after the steps that have begun have ended, but no later than after config.grace. New steps are refused
  // meanwhile with unavailable, so that clients may wait for the task to come back; results are still delivered, and a
  // checkpoint whose values are being read is complete.
  void drain();
  // Fails all running work with unavailable, tells every peer, and frees the port. Returns when nothing runs any more,
  // or after config.stop_timeout; then a line of the log names the work that still runs. Stopping twice is harmless.
  // Sessions of this process on it fail with unavailable. Variables and queues of the task are lost; save them before,
  // or let the task keep its variables by config.keep.
  void stop();
  // Returns the counts since the start of the server; may be called at any time.
  traffic_counts traffic() const;
  // Returns the state of the task, as inspect() does for tasks of other processes. It does not wait for what the task
  // computes. Throws unavailable if the network's thread does not answer within five seconds.
  task_report report() const;

 private:
  friend class local_cluster;
  friend class metrics_server;
  server(const cluster_spec& cluster, const server_options& options, std::unique_ptr<rpc::listener> bound);

  // Throws failed_precondition in the child of a fork().
  distributed::task_server& task() const;
  // The number of clients of its metrics_server, which counts them there.
  std::atomic<int>& metrics_clients() const;

  std::unique_ptr<distributed::task_server, delete_where_made> task_;
};

// Drains and stops the task at a target "pinion://127.0.0.1:2222". Returns when its port is free, or after the time
// that the task says it may take. Throws unavailable if the task does not answer, unauthenticated for wrong
// credentials.
void shutdown(const std::string& target, const security_options& security = {});

// Stops every task of a cluster, all at once. It tries all of them, then throws the first error.
//
// A task that does not answer is unavailable, and does not keep the others from being stopped.
void shutdown(const cluster_spec& cluster, const security_options& security = {});

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/server.ipp>
#endif
