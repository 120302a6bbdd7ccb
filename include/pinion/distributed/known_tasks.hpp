// The tasks of a cluster as one session knows them: their devices, and in which life it met them.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/master_services.hpp>
#include <pinion/distributed/waiting.hpp>

namespace pinion::inline v0::distributed {

// Owned by a session. Thread-safe. What waits blocks the calling thread; `check` throws when there is no use in waiting
// any more.
class known_tasks {
 public:
  known_tasks(master_services& services, std::vector<std::string> filters, std::function<void()> check)
      : s_(services), filters_(std::move(filters)), check_(std::move(check)) {}

  // Those that the session's device filters let through, and its own.
  std::vector<std::string> all() const {
    std::vector<std::string> result;
    for (const auto& name : s_.peers.names())
      if (name == s_.name || passes_filters(name)) result.push_back(name);
    return result;
  }
  std::vector<std::string> met() const {
    std::lock_guard hold(mutex_);
    std::vector<std::string> result;
    for (const auto& known : known_) result.push_back(known.first);
    return result;
  }
  std::vector<device_info> devices() const {
    std::lock_guard hold(mutex_);
    std::vector<device_info> all;
    for (const auto& name : s_.peers.names())
      if (const auto at = known_.find(name); at != known_.end())
        all.insert(all.end(), at->second.devices.begin(), at->second.devices.end());
    return all;
  }
  std::uint64_t incarnation_of(const std::string& task) const {
    if (task == s_.name) return s_.incarnation;
    std::lock_guard hold(mutex_);
    return known_.at(task).incarnation;
  }

  // Those that the requests of some nodes speak of; this one where a request speaks of none.
  std::vector<std::string> asked_for(const graph& g, const std::vector<node_id>& nodes) const {
    std::set<std::string> asked{s_.name};
    for (const node_id id : nodes) {
      const device_spec place = task_part(g[id].requested);
      if (place.empty()) continue;
      for (const auto& name : all())
        if (is_specification(place, parse_device(name))) asked.insert(name);
    }
    return {asked.begin(), asked.end()};
  }

  // Waits until the devices of some tasks are known.
  void learn(const std::vector<std::string>& tasks, patience until) {
    for (const auto& task : tasks) {
      if (knows(task)) continue;
      info found;
      if (task == s_.name) {
        found.devices = s_.here.devices();
      } else {
        connect_and_wait(s_.net, s_.values.way_to(task), waits(until));
        found.incarnation = s_.peers.way_to(task)->incarnation();
        found.devices = ask<status_reply>(task, status_request{}, until).devices;
      }
      std::lock_guard hold(mutex_);
      known_.emplace(task, std::move(found));
    }
  }

  // Connects again with a task that was known: when it does not come back at once it is lost, and in another life it
  // has forgotten everything. Returns the generation of the way.
  std::uint64_t meet_again(const std::string& task) {
    const auto way = s_.values.way_to(task);
    reach(s_.net, way, std::chrono::milliseconds(500), task, waits({}));
    if (way->incarnation() != incarnation_of(task))
      throw error(errc::aborted, task + " was restarted: its state is gone; open a new session").in_task(task);
    return way->generation();
  }

  template <class Reply, class Request>
  Reply ask(const std::string& task, const Request& request, patience until) {
    return ask_and_wait<Reply>(s_.net, s_.peers.way_to(task), request, waits(until));
  }
  wait_options waits(patience until) const {
    return {.what = "waiting for the peers of the step", .until = until, .check = check_};
  }

 private:
  struct info {
    std::uint64_t incarnation = 0;
    std::vector<device_info> devices;
  };

  static device_spec task_part(const device_spec& s) {
    return device_spec{}.with_job(s.job()).with_replica(s.replica()).with_task(s.task());
  }
  bool passes_filters(const std::string& task) const {
    return filters_.empty() || std::any_of(filters_.begin(), filters_.end(), [&](const std::string& filter) {
             return is_specification(task_part(parse_device(filter)), parse_device(task));
           });
  }
  bool knows(const std::string& task) const {
    std::lock_guard hold(mutex_);
    return known_.count(task) > 0;
  }

  master_services& s_;
  const std::vector<std::string> filters_;
  const std::function<void()> check_;
  mutable std::mutex mutex_;
  std::map<std::string, info> known_;
};

}  // namespace pinion::inline v0::distributed
