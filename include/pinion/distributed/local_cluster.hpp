// A whole cluster in this process.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/distributed/server.hpp>

namespace pinion::inline v0 {

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
                         const security_options& security = {}) {
    std::vector<std::unique_ptr<distributed::bound_address>> ports;
    for (const job& j : jobs) {
      if (!spec_.has(j.name)) spec_.add_job(j.name);
      for (int task = 0; task < j.tasks; ++task) {
        ports.push_back(distributed::bind_address("127.0.0.1:0"));
        spec_.add_task(j.name, task, ports.back()->address());
      }
    }
    auto port = ports.begin();
    for (const job& j : jobs)
      for (int task = 0; task < j.tasks; ++task)
        servers_.emplace(std::pair(j.name, task),
                         pinion::server(spec_, {.job = j.name, .task = task, .security = security, .config = config},
                                        std::move(*port++)));
  }

  const cluster_spec& spec() const { return spec_; }
  pinion::server& server(const std::string& of_job, int task) {
    spec_.address(of_job, task);  // throws not_found, and says what there is
    return servers_.at({of_job, task});
  }
  std::string target(const std::string& of_job, int task) { return server(of_job, task).target(); }
  void stop() {
    for (auto& [name, s] : servers_) s.stop();
  }

 private:
  cluster_spec spec_;
  std::map<std::pair<std::string, int>, pinion::server> servers_;
};

}  // namespace pinion::inline v0
