// The other tasks of a cluster: where each is, and the way to it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/messages.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion::inline v0::distributed {

// Owned by a server. Thread-safe. Ways are made when they are first needed, and kept.
class peers {
 public:
  peers(rpc::network& net, const cluster_spec& cluster, rpc::channel_options options)
      : net_(net), options_(std::move(options)) {
    for (const auto& job : cluster.jobs())
      for (int task : cluster.task_indices(job)) {
        names_.push_back(task_name(job, task));
        addresses_.emplace(names_.back(), cluster.address(job, task));
      }
  }

  const std::vector<std::string>& names() const { return names_; }  // by job, then by task
  bool knows(std::string_view task) const { return addresses_.find(task) != addresses_.end(); }
  const std::string& address(std::string_view task) const {
    const auto at = addresses_.find(task);
    if (at == addresses_.end()) throw error(errc::not_found, "the cluster has no task " + std::string(task));
    return at->second;
  }
  std::shared_ptr<rpc::channel> way_to(std::string_view task) {
    const std::string& where = address(task);
    std::lock_guard hold(mutex_);
    auto& way = ways_[std::string(task)];
    if (!way) way = std::make_shared<rpc::channel>(net_, where, std::string(task), options_);
    return way;
  }
  void close(const error& why) {
    std::lock_guard hold(mutex_);
    for (const auto& [task, way] : ways_) way->close(why);
  }

 private:
  rpc::network& net_;
  const rpc::channel_options options_;
  std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> addresses_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<rpc::channel>> ways_;
};

}  // namespace pinion::inline v0::distributed
