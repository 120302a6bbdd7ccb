// Bodies of <pinion/distributed/wire/peers.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/wire/task_name.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL peers::peers(rpc::network& net, const cluster_spec& cluster, rpc::channel_options options)
    : net_(net), options_(std::move(options)) {
  for (const auto& job : cluster.jobs())
    for (int task : cluster.task_indices(job)) {
      names_.push_back(task_name(job, task));
      addresses_.emplace(names_.back(), cluster.address(job, task));
    }
}

PINION_DECL const std::string& peers::address(std::string_view task) const {
  const auto at = addresses_.find(task);
  if (at == addresses_.end()) throw error(errc::not_found, "the cluster has no task " + std::string(task));
  return at->second;
}

PINION_DECL std::shared_ptr<rpc::channel> peers::way_to(std::string_view task) {
  const std::string& where = address(task);
  std::lock_guard hold(mutex_);
  auto& way = ways_[std::string(task)];
  if (!way) way = std::make_shared<rpc::channel>(net_, where, std::string(task), options_);
  return way;
}

PINION_DECL rpc::task_view peers::view_of(std::string_view task) const {
  address(task);  // throws not_found
  std::lock_guard hold(mutex_);
  const auto at = ways_.find(task);
  return at == ways_.end() ? rpc::task_view{} : at->second->view();
}

PINION_DECL bool peers::have_taken_all() const {
  std::lock_guard hold(mutex_);
  return std::all_of(ways_.begin(), ways_.end(), [](const auto& way) { return way.second->has_sent_all(); });
}

PINION_DECL void peers::close(const error& why) {
  std::lock_guard hold(mutex_);
  for (const auto& [task, way] : ways_) way->close(why);
}

PINION_DECL std::vector<peer_report> peers::report(std::string_view but) const {
  std::vector<peer_report> all;
  for (const auto& name : names_) {
    if (name == but) continue;
    rpc::task_view view = view_of(name);
    peer_report& p = all.emplace_back(peer_report{.name = name, .address = address(name)});
    p.state = to_string(view.state);
    if (view.silence) p.silence = std::chrono::duration<double>(*view.silence).count();
    p.why = std::move(view.reason);
    p.values_by = std::move(view.values_by);
  }
  return all;
}

}}}  // namespace pinion::v0::distributed
