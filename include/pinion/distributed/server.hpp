// A task of a cluster, served by this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/task_name.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion::inline v0 {

struct server_config {
  int cpu_devices = 1;
  int inter_op_threads = 0;  // for nodes beside each other; 0: the cores of this machine shared by its tasks
  int intra_op_threads = 0;  // for loops inside a node; likewise
  any_placer placer = {};    // of the sessions that target this task
  std::vector<sim::accelerator> simulated = {};   // pretend accelerators: /gpu:0, /gpu:1, ...
  std::chrono::milliseconds heartbeat{1000};      // a peer that is silent for two is dead
  std::uint64_t credit = std::uint64_t{4} << 20;  // bytes that may be on the way to one peer
  std::chrono::milliseconds stop_timeout{10000};  // of stop(): what runs longer is named, and left to itself
};

struct server_options {
  std::string job = {};  // may be left out where the cluster has one job
  int task = 0;
  security_options security = {};
  server_config config = {};
};

// Counts since the start of a server, over all its connections.
struct traffic_counts {
  std::uint64_t bytes_sent = 0, bytes_received = 0, messages_sent = 0, messages_received = 0, requests = 0, writes = 0;
};

namespace distributed {

// What stands behind a server.
class task_server {
 public:
  virtual ~task_server() = default;
  virtual const std::string& address() const = 0;
  virtual void join() = 0;
  // False where something has not ended in time: it still uses this, which then must not be destroyed.
  virtual bool stop() = 0;
  virtual traffic_counts traffic() const = 0;
};

// Keeps what could not be stopped in time: what still runs uses it, to the end of the process.
inline void leave_to_itself(std::unique_ptr<task_server> still_used) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::unique_ptr<task_server>>;
  std::lock_guard hold(mutex);
  all.push_back(std::move(still_used));
}

// A socket that listens already, for those who must know their ports before their cluster spec is complete.
class bound_address {
 public:
  virtual ~bound_address() = default;
  virtual const std::string& address() const = 0;
};

// Defined in server_core.hpp, or in the compiled library; templates only so that this header stands without either.
template <class = void>
std::unique_ptr<task_server> make_task_server(const cluster_spec& cluster, const server_options& options,
                                              std::unique_ptr<bound_address> bound);
template <class = void>
std::unique_ptr<bound_address> bind_address(const std::string& address);
template <class = void>
void shut_down_task(const std::string& address, const std::string& task, const security_options& security);

}  // namespace distributed

// One task of a cluster: it keeps variables, computes parts of steps for any session, and is the master of sessions
// that target it. Serves from its construction on, in threads of its own. Owns its devices and state; sessions do not
// keep it alive. Throws invalid_argument or not_found where the cluster has no such task, already_exists when the
// address is taken, failed_precondition for an address that others can reach without a key. Thread-safe, but for the
// destructor.
class server {
 public:
  explicit server(const cluster_spec& cluster, const server_options& options = {})
      : task_(distributed::make_task_server(cluster, options, nullptr)) {}
  server(server&&) = default;
  // As stop().
  ~server() {
    if (task_ && !task_->stop()) distributed::leave_to_itself(std::move(task_));
  }

  // "pinion://127.0.0.1:2222", for sessions.
  std::string target() const { return "pinion://" + task_->address(); }
  // Blocks until stop(), SIGINT, SIGTERM or a remote shutdown; then the server has stopped. A signal counts where it
  // has no handler of the program's and is not ignored; monitored sessions of this process save before the server goes.
  void join() { task_->join(); }
  // Fails what runs with unavailable, tells every peer, frees the port; returns when nothing runs any more, or after
  // config.stop_timeout with a line on standard error that names what does. Stopping twice is harmless.
  void stop() { task_->stop(); }
  traffic_counts traffic() const { return task_->traffic(); }

 private:
  friend class local_cluster;
  server(const cluster_spec& cluster, const server_options& options, std::unique_ptr<distributed::bound_address> bound)
      : task_(distributed::make_task_server(cluster, options, std::move(bound))) {}

  std::unique_ptr<distributed::task_server> task_;
};

// Stops a task: "pinion://127.0.0.1:2222". Returns when it has agreed and its port is free. Throws unavailable when
// nobody is there, unauthenticated for a wrong key.
inline void shutdown(const std::string& target, const security_options& security = {}) {
  distributed::shut_down_task(address_of_target(target), "", security);
}

// Stops every task of a cluster; tries all of them, then throws the first error there was.
inline void shutdown(const cluster_spec& cluster, const security_options& security = {}) {
  std::unique_ptr<error> first;
  for (const auto& job : cluster.jobs())
    for (const int task : cluster.task_indices(job)) try {
        distributed::shut_down_task(cluster.address(job, task), distributed::task_name(job, task), security);
      } catch (const error& e) {
        if (!first) first = std::make_unique<error>(e);
      }
  if (first) throw error(*first);
}

}  // namespace pinion::inline v0
