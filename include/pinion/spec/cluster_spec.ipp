// Bodies of <pinion/spec/cluster_spec.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/base/near_name.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/host_port.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL std::string or_none(std::string list) {
  return list.empty() ? "none" : list;
}

PINION_DECL std::string task_name(std::string_view job, int task) {
  return "task " + std::to_string(task) + " of job '" + std::string(job) + "'";
}

PINION_DECL void refuse_cluster(const std::string& sentence) {
  throw error(errc::invalid_argument, sentence);
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL cluster_spec::job_entry::job_entry(std::string_view job, std::initializer_list<task_entry> all)
    : name(job), tasks(all) {}

PINION_DECL cluster_spec::cluster_spec() = default;
PINION_DECL cluster_spec::cluster_spec(const cluster_spec&) = default;
PINION_DECL cluster_spec::cluster_spec(cluster_spec&&) noexcept = default;
PINION_DECL cluster_spec& cluster_spec::operator=(const cluster_spec&) = default;
PINION_DECL cluster_spec& cluster_spec::operator=(cluster_spec&&) noexcept = default;
PINION_DECL cluster_spec::~cluster_spec() = default;

PINION_DECL cluster_spec::cluster_spec(std::initializer_list<job_entry> jobs) {
  for (const job_entry& job : jobs) {
    add_job(job.name);
    int position = 0;
    for (const task_entry& task : job.tasks) {
      add_task(job.name, task.by_position ? position : task.index, task.address);
      ++position;
    }
  }
}

PINION_DECL cluster_spec& cluster_spec::add_job(std::string_view job) {
  const std::string name(job);
  if (!is_job_name(job))
    detail::refuse_cluster("bad job name '" + name +
                           "'; write a letter, then letters, digits, _ or -, at most 63 in all");
  if (!jobs_.try_emplace(name).second) detail::refuse_cluster("job '" + name + "' is given twice");
  return *this;
}

PINION_DECL cluster_spec& cluster_spec::add_task(std::string_view job, int task, std::string_view address) {
  const std::string name = detail::task_name(job, task);
  if (task < 0) detail::refuse_cluster(name + ": a task index is not negative");
  if (!host_port(address).valid())
    detail::refuse_cluster("address '" + std::string(address) + "' of " + name +
                           " cannot be read; write host:port, the port from 0 to 65535, an IPv6 host in brackets");
  if (has(job, task)) detail::refuse_cluster(name + " is given twice");
  const std::string at = host_port(address).canonical();
  if (const auto other = owners_.find(at); other != owners_.end())
    detail::refuse_cluster("address '" + std::string(address) + "' is given twice: to " + other->second + " and to " +
                           name);
  if (!has(job)) add_job(job);
  if (host_port(address).port > 0) owners_.emplace(at, name);  // port 0 asks the system for any free port
  jobs_.find(job)->second.emplace(task, address);
  return *this;
}

PINION_DECL bool cluster_spec::has(std::string_view job) const {
  return jobs_.find(job) != jobs_.end();
}

PINION_DECL bool cluster_spec::has(std::string_view job, int task) const {
  return has(job) && tasks(job).count(task) > 0;
}

PINION_DECL int cluster_spec::num_tasks(std::string_view job) const {
  return static_cast<int>(tasks(job).size());
}

PINION_DECL bool cluster_spec::operator==(const cluster_spec& other) const {
  return jobs_ == other.jobs_;
}

PINION_DECL std::vector<std::string> cluster_spec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [name, tasks] : jobs_) names.push_back(name);
  return names;
}

PINION_DECL std::vector<int> cluster_spec::task_indices(std::string_view job) const {
  std::vector<int> indices;
  for (const auto& [index, address] : tasks(job)) indices.push_back(index);
  return indices;
}

PINION_DECL const std::string& cluster_spec::address(std::string_view job, int task) const {
  const task_map& known = tasks(job);
  if (const auto found = known.find(task); found != known.end()) return found->second;
  const std::string indices = detail::joined(task_indices(job), [](int i) { return std::to_string(i); });
  throw error(errc::not_found, "the cluster has no " + detail::task_name(job, task) +
                                   "; this job has tasks: " + detail::or_none(indices));
}

PINION_DECL const cluster_spec::task_map& cluster_spec::tasks(std::string_view job) const {
  if (const auto found = jobs_.find(job); found != jobs_.end()) return found->second;
  const std::string names = detail::joined(jobs(), [](const std::string& name) { return name; });
  throw error(errc::not_found, "the cluster has no job '" + std::string(job) + "'; it has: " + detail::or_none(names) +
                                   did_you_mean(job, this->jobs()));
}

PINION_DECL std::string to_string(const cluster_spec& cluster) {
  const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
  const auto job_text = [&](const std::string& job) {
    const std::vector<int> indices = cluster.task_indices(job);
    const bool dense = indices.empty() || indices.back() < cluster.num_tasks(job);
    const auto task_text = [&](int task) {
      return (dense ? "" : quoted(std::to_string(task)) + ": ") + quoted(cluster.address(job, task));
    };
    const std::string tasks = detail::joined(indices, task_text);
    return quoted(job) + ": " + (dense ? "[" + tasks + "]" : "{" + tasks + "}");
  };
  return "{" + detail::joined(cluster.jobs(), job_text) + "}";
}

}}  // namespace pinion::v0
