// Bodies of <pinion/distributed/server/local_cluster.hpp>.
#pragma once

#include <memory>
#include <vector>

#include <pinion/distributed/server/local_cluster.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL local_cluster::local_cluster(std::initializer_list<job> jobs, const server_config& config,
                                         const security_options& security) {
  const auto network = rpc::tcp_network_of_this_process();
  std::vector<std::unique_ptr<rpc::listener>> ports;
  for (const job& j : jobs) {
    if (!spec_.has(j.name)) spec_.add_job(j.name);
    for (int task = 0; task < j.tasks; ++task) {
      ports.push_back(network->listen("127.0.0.1:0"));
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

PINION_DECL pinion::server& local_cluster::server(const std::string& of_job, int task) {
  spec_.address(of_job, task);  // throws not_found, and says what there is
  return servers_.at({of_job, task});
}

PINION_DECL void local_cluster::stop() {
  for (auto& [name, s] : servers_) s.stop();
}

}}  // namespace pinion::v0
