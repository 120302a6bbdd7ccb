// Bodies of <pinion/distributed/server/server.hpp>.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <pinion/base/process.hpp>
#include <pinion/base/stop_signal.hpp>
#include <pinion/distributed/client/stop_request.hpp>
#include <pinion/distributed/server/server.hpp>
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/distributed/wire/task_name.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

struct servers_left_to_themselves {
  std::mutex mutex;
  std::vector<std::unique_ptr<task_server>> all;
};

// Keeps a server whose work could not be stopped in time alive to the end of the process, since that work uses it.
inline void leave_to_itself(std::unique_ptr<task_server> still_used) {
  auto& left = of_this_process<servers_left_to_themselves>();
  std::lock_guard hold(left.mutex);
  left.all.push_back(std::move(still_used));
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 {

PINION_DECL server::server(const cluster_spec& cluster, const server_options& options)
    : server(cluster, options, nullptr) {}
PINION_DECL server::server(const cluster_spec& cluster, const server_options& options,
                           std::unique_ptr<rpc::listener> bound)
    : task_(new distributed::task_server(rpc::tcp_network_of_this_process(), cluster, options, std::move(bound))) {}
PINION_DECL server::server(server&&) noexcept = default;

PINION_DECL server::~server() {
  // A program may have ended for a signal without join(), as one that trains does.
  const auto as = stop_signal_so_far() != 0 ? rpc::task_state::stopped : rpc::task_state::finished;
  if (task_ && task_.get_deleter().made.is_this() && !task_->stop(as))
    distributed::detail::leave_to_itself(std::unique_ptr<distributed::task_server>(task_.release()));
}

PINION_DECL distributed::task_server& server::task() const {
  task_.get_deleter().made.expect("the server at " + task_->address());
  return *task_;
}

PINION_DECL std::atomic<int>& server::metrics_clients() const {
  return task().metrics_clients();
}

PINION_DECL std::string server::target() const {
  return "pinion://" + task_->address();
}

PINION_DECL void server::join() {
  task().join();
}

PINION_DECL void server::drain() {
  task().drain();
  task().stop();
}

PINION_DECL void server::stop() {
  task().stop();
}

PINION_DECL traffic_counts server::traffic() const {
  return task().traffic();
}

PINION_DECL task_report server::report() const {
  return task().report();
}

PINION_DECL void shutdown(const std::string& target, const security_options& security) {
  distributed::stop_request(rpc::tcp_network_of_this_process(), address_of_target(target), "", security).wait();
}

PINION_DECL void shutdown(const cluster_spec& cluster, const security_options& security) {
  std::vector<std::unique_ptr<distributed::stop_request>> asked;
  std::unique_ptr<error> first;
  for (const auto& job : cluster.jobs())
    for (const int task : cluster.task_indices(job)) try {
        asked.push_back(std::make_unique<distributed::stop_request>(rpc::tcp_network_of_this_process(),
                                                                    cluster.address(job, task),
                                                                    distributed::task_name(job, task), security));
      } catch (const error& e) {
        if (!first) first = std::make_unique<error>(e);
      }
  for (const auto& one : asked) one->wait();
  if (first) throw error(*first);
}

}}  // namespace pinion::v0
