// A task of a cluster, served by this process.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
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

// One task of a cluster: it keeps variables, computes parts of steps for any session, and is the master of sessions
// that target it. Serves from its construction on, in threads of its own. Owns its devices and state; sessions do not
// keep it alive. Throws invalid_argument or not_found where the cluster has no such task, already_exists when the
// address is taken, failed_precondition for an address that others can reach without a key. Thread-safe, but for the
// destructor.
class server {
 public:
  explicit server(const cluster_spec& cluster, const server_options& options = {});
  server(server&&) noexcept;
  // As stop().
  ~server();

  // "pinion://127.0.0.1:2222", for sessions.
  std::string target() const;
  // Blocks until stop(), SIGINT, SIGTERM or a remote shutdown; then the server has stopped. A signal counts where it
  // has no handler of the program's and is not ignored; monitored sessions of this process save before the server goes.
  void join();
  // Fails what runs with unavailable, tells every peer, frees the port; returns when nothing runs any more, or after
  // config.stop_timeout with a line on standard error that names what does. Stopping twice is harmless.
  void stop();
  traffic_counts traffic() const;

 private:
  friend class local_cluster;
  server(const cluster_spec& cluster, const server_options& options, std::unique_ptr<rpc::listener> bound);

  std::unique_ptr<distributed::task_server> task_;
};

// Stops a task: "pinion://127.0.0.1:2222". Returns when it has agreed and its port is free. Throws unavailable when
// nobody is there, unauthenticated for a wrong key.
void shutdown(const std::string& target, const security_options& security = {});

// Stops every task of a cluster; tries all of them, then throws the first error there was.
void shutdown(const cluster_spec& cluster, const security_options& security = {});

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/server.ipp>
#endif
