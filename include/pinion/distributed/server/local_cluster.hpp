// A whole cluster in this process, for tests and examples.
//
//   pn::local_cluster local{{{"ps", 1}, {"worker", 3}}};
//   pn::session sess({.target = local.target("worker", 0)});
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/distributed/server/server.hpp>

namespace pinion { inline namespace v0 {

// Servers of one cluster on free loopback ports. They talk over sockets, as they would over a network. It owns its
// servers and stops them when it is destroyed. Thread-safe as servers are. The constructor throws what that of server
// throws.
//
// Variables of a task outlive the sessions on it, and are gone with the cluster.
class local_cluster {
 public:
  // The name of a job and its number of tasks.
  struct job {
    // A constructor, since an aggregate would let {{"ps", 1}} read {"ps", 1} as the string of one letter, "p".
    job(std::string_view n, int t) : name(n), tasks(t) {}
    std::string name;
    int tasks;
  };
  // Starts the servers; returns when all of them serve. Every server gets the same config and credentials.
  explicit local_cluster(std::initializer_list<job> jobs, const server_config& config = {},
                         const security_options& security = {});

  // Returns the cluster with the addresses that the servers were given.
  const cluster_spec& spec() const { return spec_; }
  // Returns one server, for instance to stop it alone. Throws not_found if the cluster has no such task.
  pinion::server& server(const std::string& of_job, int task);
  // Returns the target of one server, for sessions.
  std::string target(const std::string& of_job, int task) { return server(of_job, task).target(); }
  // Stops every server, one after the other; see server::stop.
  void stop();

 private:
  cluster_spec spec_;
  std::map<std::pair<std::string, int>, pinion::server> servers_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/local_cluster.ipp>
#endif
