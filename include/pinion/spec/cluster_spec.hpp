// Which tasks a cluster has and where each of them listens.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/base/near_name.hpp>
#include <pinion/spec/host_port.hpp>
#include <pinion/spec/names.hpp>

namespace pinion::inline v0 {

// What stands for a text in a braced cluster: a literal, a std::string, a string_view.
template <class T>
concept address_text = std::convertible_to<const T&, std::string_view>;

// The jobs of a cluster, their tasks, and the address of each task: "host:port", an IPv6 host in brackets.
//
//   cluster_spec cluster{{"ps", {"127.0.0.1:2221"}}, {"worker", {"127.0.0.1:2222", "127.0.0.1:2223"}}};
//   cluster_spec sparse{{"ps", {{0, "a:1"}, {5, "b:1"}}}};
//
// A value that owns its texts; in which order jobs and tasks were given does not matter. Distinct objects may be used
// from distinct threads, and one object by many readers. Making one throws invalid_argument on a bad job name or
// address, a negative task, and a job, task or address given twice (port 0 asks the system for a free port, so it is
// never the same address). Asking for a job or task that is not there throws not_found.
class cluster_spec {
 public:
  // One task in braces: an address, whose index is its position in the list, or an index and an address. A type of its
  // own, because a pair of literals in braces is a string to std::string, from one pointer to the other.
  struct task_entry {
    template <address_text Address>
    task_entry(const Address& at) : address(std::string_view(at)) {}
    template <address_text Address>
    task_entry(int number, const Address& at)
        : index(number), by_position(false), address(std::string_view(at)) {}

    int index = 0;
    bool by_position = true;
    std::string address;
  };

  // One job in braces, or with a vector of addresses. It may have no task. The vector is a template so that braces
  // never become one.
  struct job_entry {
    job_entry(std::string_view job, std::initializer_list<task_entry> all) : name(job), tasks(all) {}
    template <std::same_as<std::vector<std::string>> Addresses>
    job_entry(std::string_view job, const Addresses& addresses)
        : name(job), tasks(addresses.begin(), addresses.end()) {}

    std::string name;
    std::vector<task_entry> tasks;
  };

  cluster_spec() = default;
  cluster_spec(std::initializer_list<job_entry> jobs);

  cluster_spec& add_job(std::string_view job);
  cluster_spec& add_task(std::string_view job, int task, std::string_view address);  // makes the job if it is new

  bool has(std::string_view job) const { return jobs_.find(job) != jobs_.end(); }
  bool has(std::string_view job, int task) const { return has(job) && tasks(job).count(task) > 0; }

  std::vector<std::string> jobs() const;                      // in natural order
  std::vector<int> task_indices(std::string_view job) const;  // ascending
  int num_tasks(std::string_view job) const { return static_cast<int>(tasks(job).size()); }
  const std::string& address(std::string_view job, int task) const;

  friend bool operator==(const cluster_spec&, const cluster_spec&) = default;

 private:
  struct by_nature {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
  };
  using task_map = std::map<int, std::string>;

  const task_map& tasks(std::string_view job) const;
  void refuse_taken(std::string_view address, const std::string& owner) const;

  std::map<std::string, task_map, by_nature> jobs_;
};

// The "cluster" object of TensorFlow's TF_CONFIG, in JSON: {"ps": {"0": "a:1", "5": "b:1"}, "worker": ["c:1", "d:1"]}.
// A job whose tasks are 0, 1, 2, ... is a list.
std::string to_string(const cluster_spec& cluster);

namespace detail {

// The texts of some values with commas between them.
template <class Values, class Text>
std::string joined(const Values& values, Text text) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ", ") + text(value);
  return list;
}

inline std::string or_none(std::string list) {
  return list.empty() ? "none" : list;
}

inline std::string task_name(std::string_view job, int task) {
  return "task " + std::to_string(task) + " of job '" + std::string(job) + "'";
}

[[noreturn]] inline void refuse_cluster(const std::string& sentence) {
  throw error(errc::invalid_argument, sentence);
}

}  // namespace detail

inline cluster_spec::cluster_spec(std::initializer_list<job_entry> jobs) {
  for (const job_entry& job : jobs) {
    add_job(job.name);
    int position = 0;
    for (const task_entry& task : job.tasks) {
      add_task(job.name, task.by_position ? position : task.index, task.address);
      ++position;
    }
  }
}

inline cluster_spec& cluster_spec::add_job(std::string_view job) {
  const std::string name(job);
  if (!is_job_name(job))
    detail::refuse_cluster("bad job name '" + name +
                           "'; write a letter, then letters, digits, _ or -, at most 63 in all");
  if (!jobs_.try_emplace(name).second) detail::refuse_cluster("job '" + name + "' is given twice");
  return *this;
}

inline cluster_spec& cluster_spec::add_task(std::string_view job, int task, std::string_view address) {
  const std::string name = detail::task_name(job, task);
  if (task < 0) detail::refuse_cluster(name + ": a task index is not negative");
  if (!host_port(address).valid())
    detail::refuse_cluster("address '" + std::string(address) + "' of " + name +
                           " cannot be read; write host:port, the port from 0 to 65535, an IPv6 host in brackets");
  if (has(job, task)) detail::refuse_cluster(name + " is given twice");
  refuse_taken(address, name);
  if (!has(job)) add_job(job);
  jobs_.find(job)->second.emplace(task, address);
  return *this;
}

inline void cluster_spec::refuse_taken(std::string_view address, const std::string& owner) const {
  const host_port wanted(address);
  for (const auto& [job, tasks] : jobs_)
    for (const auto& [task, taken] : tasks)
      if (wanted.same_as(host_port(taken)))
        detail::refuse_cluster("address '" + std::string(address) + "' is given twice: to " +
                               detail::task_name(job, task) + " and to " + owner);
}

inline std::vector<std::string> cluster_spec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [name, tasks] : jobs_) names.push_back(name);
  return names;
}

inline std::vector<int> cluster_spec::task_indices(std::string_view job) const {
  std::vector<int> indices;
  for (const auto& [index, address] : tasks(job)) indices.push_back(index);
  return indices;
}

inline const std::string& cluster_spec::address(std::string_view job, int task) const {
  const task_map& known = tasks(job);
  if (const auto found = known.find(task); found != known.end()) return found->second;
  const std::string indices = detail::joined(task_indices(job), [](int i) { return std::to_string(i); });
  throw error(errc::not_found, "the cluster has no " + detail::task_name(job, task) +
                                   "; this job has tasks: " + detail::or_none(indices));
}

inline const cluster_spec::task_map& cluster_spec::tasks(std::string_view job) const {
  if (const auto found = jobs_.find(job); found != jobs_.end()) return found->second;
  const std::string names = detail::joined(jobs(), [](const std::string& name) { return name; });
  throw error(errc::not_found, "the cluster has no job '" + std::string(job) + "'; it has: " + detail::or_none(names) +
                                   did_you_mean(job, this->jobs()));
}

inline std::string to_string(const cluster_spec& cluster) {
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

}  // namespace pinion::inline v0
