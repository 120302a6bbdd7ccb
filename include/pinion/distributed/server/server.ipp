// Bodies of <pinion/distributed/server/server.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/server/server.hpp>
#include <pinion/distributed/server/server_core.hpp>
#include <pinion/distributed/wire/task_name.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL server::server(const cluster_spec& cluster, const server_options& options)
    : server(cluster, options, nullptr) {}
PINION_DECL server::server(const cluster_spec& cluster, const server_options& options,
                           std::unique_ptr<distributed::bound_address> bound)
    : task_(distributed::make_task_server(cluster, options, std::move(bound))) {}
PINION_DECL server::server(server&&) noexcept = default;

PINION_DECL server::~server() {
  if (task_ && !task_->stop()) distributed::leave_to_itself(std::move(task_));
}

PINION_DECL std::string server::target() const {
  return "pinion://" + task_->address();
}

PINION_DECL void server::join() {
  task_->join();
}

PINION_DECL void server::stop() {
  task_->stop();
}

PINION_DECL traffic_counts server::traffic() const {
  return task_->traffic();
}

PINION_DECL void shutdown(const std::string& target, const security_options& security) {
  distributed::shut_down_task(address_of_target(target), "", security);
}

PINION_DECL void shutdown(const cluster_spec& cluster, const security_options& security) {
  std::unique_ptr<error> first;
  for (const auto& job : cluster.jobs())
    for (const int task : cluster.task_indices(job)) try {
        distributed::shut_down_task(cluster.address(job, task), distributed::task_name(job, task), security);
      } catch (const error& e) {
        if (!first) first = std::make_unique<error>(e);
      }
  if (first) throw error(*first);
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::unique_ptr<task_server> make_task_server(const cluster_spec& cluster, const server_options& options,
                                                          std::unique_ptr<bound_address> bound) {
  std::unique_ptr<rpc::listener> listener;
  if (bound) listener = std::move(static_cast<bound_listener&>(*bound).listener);
  return std::make_unique<server_core>(rpc::tcp_network_of_this_process(), cluster, options, std::move(listener));
}

PINION_DECL std::unique_ptr<bound_address> bind_address(const std::string& address) {
  return std::make_unique<bound_listener>(rpc::tcp_network_of_this_process(), address);
}

PINION_DECL void shut_down_task(const std::string& address, const std::string& task, const security_options& security) {
  stop_remote(rpc::tcp_network_of_this_process(), address, task, security);
}

}}}  // namespace pinion::v0::distributed
