// Bodies of <pinion/distributed/master/known_tasks.hpp>.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <pinion/distributed/master/known_tasks.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::vector<std::string> known_tasks::all() const {
  std::vector<std::string> result;
  for (const auto& name : s_.peers.names())
    if (name == s_.name || passes_filters(name)) result.push_back(name);
  return result;
}

PINION_DECL std::vector<std::string> known_tasks::met() const {
  std::lock_guard hold(mutex_);
  std::vector<std::string> result;
  for (const auto& known : known_) result.push_back(known.first);
  return result;
}

PINION_DECL std::vector<device_info> known_tasks::devices() const {
  std::lock_guard hold(mutex_);
  std::vector<device_info> all;
  for (const auto& name : s_.peers.names())
    if (const auto at = known_.find(name); at != known_.end())
      all.insert(all.end(), at->second.devices.begin(), at->second.devices.end());
  return all;
}

PINION_DECL std::vector<device_info> known_tasks::with_libraries(std::vector<device_info> devices) const {
  std::lock_guard hold(mutex_);
  for (device_info& d : devices)
    if (d.is_cuda) d.libraries = known_.at(std::string(task_of_device(d.name))).libraries.value_or(d.libraries);
  return devices;
}

PINION_DECL std::uint64_t known_tasks::incarnation_of(const std::string& task) const {
  if (task == s_.name) return s_.incarnation;
  std::lock_guard hold(mutex_);
  const auto at = known_.find(task);
  if (at == known_.end()) throw error(errc::aborted, task + " has left the cluster; open a new session").in_task(task);
  return at->second.incarnation;
}

PINION_DECL std::vector<std::string> known_tasks::asked_for(graph_view g, const std::vector<node_id>& nodes) const {
  std::set<std::string> asked{s_.name};
  for (const node_id id : nodes) {
    const device_spec place = task_part(g[id].requested);
    if (place.empty()) continue;
    for (const auto& name : all())
      if (is_specification(place, parse_device(name))) asked.insert(name);
  }
  return {asked.begin(), asked.end()};
}

namespace detail {

// Throws data_loss unless the devices are those of a task: a task may say anything of itself.
inline void expect_devices_of(const std::string& task, const std::vector<device_info>& devices) {
  for (const device_info& d : devices) {
    const auto is_figure = [](double x) { return std::isfinite(x) && x >= 0; };
    const device_speed& speed = d.speed;
    if (task_of_device(d.name) != task || to_string(d.spec) != d.name)
      throw error(errc::data_loss, task + " says that it has the device '" + d.name + "'");
    if (d.memory_limit < 0 || !is_figure(speed.flops) || !is_figure(speed.memory_bandwidth) || !is_figure(speed.launch))
      throw error(errc::data_loss, task + " says of its device " + d.name + " what is no memory, or no speed");
  }
}

}  // namespace detail

PINION_DECL void known_tasks::learn(const std::vector<std::string>& tasks, deadline until) {
  std::vector<std::string> others;
  for (const auto& task : tasks)
    if (task != s_.name && !knows(task)) others.push_back(task);
  meet(others, until);
  for (const auto& task : tasks) {
    if (knows(task)) continue;
    info found;
    if (task == s_.name) {
      found.devices = s_.here.task().device_infos();
    } else {
      const auto route = s_.peers.route_to(task);
      found.incarnation = route->incarnation();
      found.devices = ask_and_wait<status_reply>(s_.net, route, status_request{}, waits(until, startup_limit)).devices;
      detail::expect_devices_of(task, found.devices);
    }
    std::lock_guard hold(mutex_);
    known_.emplace(task, std::move(found));
  }
  forget_gone();
}

PINION_DECL void known_tasks::forget_gone() {
  constexpr std::size_t most_gone = 64;  // whom steps of the session may still name
  const auto names = s_.peers.names();
  std::lock_guard hold(mutex_);
  if (known_.size() <= names.size() + most_gone) return;
  const std::set<std::string> there(names.begin(), names.end());
  std::erase_if(known_, [&](const auto& known) { return !there.contains(known.first); });
}

PINION_DECL void known_tasks::meet(const std::vector<std::string>& tasks, deadline until) {
  if (tasks.empty()) return;
  struct meeting {
    std::mutex mutex;
    std::size_t left;
    outcome<> met = {};  // success so far, or the first failure
  };
  const auto all = std::make_shared<meeting>();
  all->left = tasks.size();
  auto how = waits(until, startup_limit);
  how.what = [&] { return views_of_missing(tasks); };
  how.silent = std::chrono::seconds(1);
  if (how.until) *how.until += std::chrono::milliseconds(500);  // the ways have the limit itself
  const auto began = s_.net.now();
  try {
    wait_for<void>(s_.net, how, [&](const auto& done) {
      for (const auto& task : tasks)
        s_.values.route_to(task)->connect(until, [all, done](const outcome<>& connected) {
          std::unique_lock hold(all->mutex);
          if (!all->met) return;  // it is over
          if (!connected) all->met = connected;
          const bool over = !connected || --all->left == 0;
          hold.unlock();
          if (over) done(connected);
        });
    });
  } catch (const error& e) {
    if (e.code() != errc::deadline_exceeded) throw;
    const std::string missing = views_of_missing(tasks);
    throw error(e.code(), "waited " + rpc::seconds(s_.net.now() - began) + " for " + missing + ", and " +
                              startup_limit + " is over")
        .in_task(e.task());
  }
}

PINION_DECL std::string known_tasks::views_of_missing(const std::vector<std::string>& tasks) const {
  std::string all;
  for (const auto& task : tasks)
    if (const auto route = s_.peers.route_to(task); !route->up())
      all += (all.empty() ? "" : ", ") + title_and_view(*route);
  return all;
}

PINION_DECL void known_tasks::learn_libraries(deadline until) {
  std::vector<std::string> unknown;
  {
    std::lock_guard hold(mutex_);
    for (const auto& [task, known] : known_)
      if (!known.libraries &&
          std::any_of(known.devices.begin(), known.devices.end(), [](auto& d) { return d.is_cuda; }))
        unknown.push_back(task);
  }
  for (const std::string& task : unknown) {
    auto found =
        task == s_.name ? s_.here.task().libraries() : ask<libraries_reply>(task, libraries_request{}, until).libraries;
    std::lock_guard hold(mutex_);
    known_.at(task).libraries = std::move(found);
  }
}

PINION_DECL std::uint64_t known_tasks::meet_again(const std::string& task) {
  const auto route = s_.values.route_to(task);
  reach(s_.net, route, std::chrono::milliseconds(500), task, waits({}, ""));
  if (route->incarnation() != incarnation_of(task))
    throw error(errc::aborted, task + " was restarted: its state is gone; open a new session").in_task(task);
  return route->generation();
}

PINION_DECL wait_options known_tasks::waits(deadline until, const std::string& limit) const {
  return {.what = [task = s_.name] { return "the tasks of a step that " + task + " makes ready"; },
          .until = until,
          .check = check_,
          .limit = limit};
}

PINION_DECL device_spec known_tasks::task_part(const device_spec& s) {
  return device_spec{}.with_job(s.job()).with_replica(s.replica()).with_task(s.task());
}

PINION_DECL bool known_tasks::passes_filters(const std::string& task) const {
  return filters_.empty() || std::any_of(filters_.begin(), filters_.end(), [&](const std::string& filter) {
           return is_specification(task_part(parse_device(filter)), parse_device(task));
         });
}

PINION_DECL bool known_tasks::knows(const std::string& task) const {
  std::lock_guard hold(mutex_);
  return known_.count(task) > 0;
}

}}}  // namespace pinion::v0::distributed
