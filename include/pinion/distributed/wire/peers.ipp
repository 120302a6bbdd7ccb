// Bodies of <pinion/distributed/wire/peers.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/wire/task_name.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL peers::peers(rpc::network& net, const cluster_spec& cluster, rpc::channel_options options)
    : net_(net), options_(std::move(options)) {
  for (const auto& job : cluster.jobs())
    for (int task : cluster.task_indices(job)) {
      names_.push_back(task_name(job, task));
      addresses_.emplace(names_.back(), cluster.address(job, task));
    }
}

PINION_DECL std::vector<std::string> peers::names() const {
  std::lock_guard hold(mutex_);
  return names_;
}

PINION_DECL bool peers::knows(std::string_view task) const {
  std::lock_guard hold(mutex_);
  return addresses_.find(task) != addresses_.end();
}

PINION_DECL const std::string& peers::find(std::string_view task) const {
  const auto at = addresses_.find(task);
  if (at == addresses_.end()) throw error(errc::not_found, "the cluster has no task " + std::string(task));
  return at->second;
}

PINION_DECL std::string peers::address(std::string_view task) const {
  std::lock_guard hold(mutex_);
  return find(task);
}

PINION_DECL std::shared_ptr<rpc::channel> peers::way_to(std::string_view task) {
  std::lock_guard hold(mutex_);
  if (const auto known = ways_.find(task); known != ways_.end()) return known->second;  // of one that is forgotten, too
  return ways_[std::string(task)] = std::make_shared<rpc::channel>(net_, find(task), std::string(task), options_);
}

PINION_DECL bool peers::is_before(const std::string& a, const std::string& b) {
  const device_spec x = parse_device(a), y = parse_device(b);
  return x.job() != y.job() ? natural_less(x.job(), y.job()) : x.task() < y.task();
}

PINION_DECL bool peers::learn(const std::string& task, const std::string& address, std::uint64_t incarnation) {
  const auto read = outcome_of([&] { return parse_device(task); });  // a peer may call itself anything
  const device_spec place = read ? read.value() : device_spec();
  if (place.task() < 0 || task != task_name(place.job(), place.task())) return true;
  std::lock_guard hold(mutex_);
  const auto is_of_its_job = [&](const std::string& other) { return parse_device(other).job() == place.job(); };
  if (addresses_.find(task) == addresses_.end()) {
    if (joined_.size() >= most_joined || std::none_of(names_.begin(), names_.end(), is_of_its_job)) return true;
    names_.insert(std::upper_bound(names_.begin(), names_.end(), task, is_before), task);
    joined_.insert(task);
  }
  std::uint64_t& latest = lives_[task];
  if (incarnation < latest) return false;
  latest = incarnation;
  addresses_[task] = address;
  if (const auto way = ways_.find(task); way != ways_.end()) way->second->moved_to(address);
  return true;
}

PINION_DECL void peers::forget(const std::string& task) {
  std::lock_guard hold(mutex_);
  if (joined_.erase(task) == 0) return;
  addresses_.erase(task);
  lives_.erase(task);
  std::erase(names_, task);
}

PINION_DECL rpc::task_view peers::view_of(std::string_view task) const {
  std::lock_guard hold(mutex_);
  find(task);
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
  std::lock_guard hold(mutex_);
  for (const auto& name : names_) {
    if (name == but) continue;
    const auto way = ways_.find(name);
    rpc::task_view view = way == ways_.end() ? rpc::task_view{} : way->second->view();
    peer_report& p = all.emplace_back(peer_report{.name = name, .address = find(name)});
    p.state = to_string(view.state);
    if (view.silence) p.silence = std::chrono::duration<double>(*view.silence).count();
    p.why = std::move(view.reason);
    p.values_by = std::move(view.values_by);
  }
  return all;
}

}}}  // namespace pinion::v0::distributed
