// A whole cluster in this process.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/distributed/server/server.hpp>

namespace pinion { inline namespace v0 {

// Servers on free ports of the loopback: `local_cluster local{{{"ps", 1}, {"worker", 3}}};`. They speak to each other
// through sockets, as they would over a network. Owns them; stops them when it goes. Thread-safe as servers are.
class local_cluster {
 public:
  struct job {
    job(std::string_view n, int t) : name(n), tasks(t) {}  // else one job in braces is the first letter of its name
    std::string name;
    int tasks;
  };
  explicit local_cluster(std::initializer_list<job> jobs, const server_config& config = {},
                         const security_options& security = {});

  const cluster_spec& spec() const { return spec_; }
  pinion::server& server(const std::string& of_job, int task);
  std::string target(const std::string& of_job, int task) { return server(of_job, task).target(); }
  void stop();

 private:
  cluster_spec spec_;
  std::map<std::pair<std::string, int>, pinion::server> servers_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/local_cluster.ipp>
#endif
