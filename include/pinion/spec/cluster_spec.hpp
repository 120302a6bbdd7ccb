// The tasks of a cluster, and the address of each.
//
//   pn::cluster_spec cluster{{"ps", {"127.0.0.1:2221"}}, {"worker", {"127.0.0.1:2222", "127.0.0.1:2223"}}};
//   pn::server worker{cluster, {.job = "worker", .task = 0}};
//
// A job is a name and a set of numbered tasks; a task is a process with an address. Every process of a cluster is given
// the same cluster_spec.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

// A text in a braced cluster: a literal, a std::string or a string_view.
template <class T>
concept address_text = std::convertible_to<const T&, std::string_view>;

// The jobs of a cluster, their tasks, and the address of each task: "host:port", with an IPv6 host in brackets.
//
//   cluster_spec cluster{{"ps", {"127.0.0.1:2221"}}, {"worker", {"127.0.0.1:2222", "127.0.0.1:2223"}}};
//   cluster_spec sparse{{"ps", {{0, "a:1"}, {5, "b:1"}}}};
//
// A value that owns its texts. The order in which jobs and tasks were given does not matter. Distinct objects may be
// used from distinct threads, and one object by many readers.
//
// The constructors and the add functions throw invalid_argument for a bad job name or address, a negative task, and a
// job, task or address that is given twice. Port 0 asks the system for a free port, so it is never the same address; a
// server takes it for its own task alone. The functions that ask for a job or task throw not_found if it does not
// exist; the sentence lists those that do. A job with tasks by number may leave some out, as `sparse` does: tasks 1 to
// 4 are then unknown, and a device there cannot be placed. Two clusters are equal in any order of jobs.
//
//   for (const auto& job : cluster.jobs())
//     for (const int task : cluster.task_indices(job)) fmt::print("{} {} {}\n", job, task, cluster.address(job, task));
class cluster_spec {
 public:
  // A task in braces: an address, whose index is its position in the list, or an index and an address. It is a type of
  // its own because std::string would take a pair of literals in braces for the two ends of one string. Both kinds of
  // entries must not stand in one list where they name a task twice.
  struct task_entry {
    template <address_text Address>
    task_entry(const Address& at) : address(std::string_view(at)) {}
    template <address_text Address>
    task_entry(int number, const Address& at) : index(number), by_position(false), address(std::string_view(at)) {}

    int index = 0;
    bool by_position = true;
    std::string address;
  };

  // A job in braces, or with a vector of addresses; it may have no task. The vector is a template parameter, so that
  // braces never become a vector. The vector serves programs that read addresses at run time: cluster_spec{{"worker",
  // addresses}}.
  struct job_entry {
    job_entry(std::string_view job, std::initializer_list<task_entry> all);
    template <std::same_as<std::vector<std::string>> Addresses>
    job_entry(std::string_view job, const Addresses& addresses)
        : name(job), tasks(addresses.begin(), addresses.end()) {}

    std::string name;
    std::vector<task_entry> tasks;
  };

  // A cluster without jobs, to be filled by add_job and add_task.
  cluster_spec();
  cluster_spec(const cluster_spec&);
  cluster_spec(cluster_spec&&) noexcept;
  cluster_spec& operator=(const cluster_spec&);
  cluster_spec& operator=(cluster_spec&&) noexcept;
  ~cluster_spec();
  // A cluster in braces.
  cluster_spec(std::initializer_list<job_entry> jobs);

  // Adds a job without tasks. Returns the cluster, for chains: cluster.add_task("ps", 0, "a:1").add_task("worker", 0,
  // "b:1").
  cluster_spec& add_job(std::string_view job);
  // Adds a task, and its job if that is new.
  cluster_spec& add_task(std::string_view job, int task, std::string_view address);

  // True if there is such a job, or task. These two never throw.
  bool has(std::string_view job) const;
  bool has(std::string_view job, int task) const;

  // The names of the jobs, in natural order (see natural_less).
  std::vector<std::string> jobs() const;
  // The indices of a job's tasks, ascending.
  std::vector<int> task_indices(std::string_view job) const;
  // The number of a job's tasks. It is not the greatest number plus 1 where tasks are left out.
  int num_tasks(std::string_view job) const;
  // The address of a task. The text is the one that was given; the reference is valid as long as the cluster.
  const std::string& address(std::string_view job, int task) const;

  // True if both have the same jobs with the same tasks at the same addresses. Addresses are compared as texts.
  bool operator==(const cluster_spec& other) const;

 private:
  struct by_nature {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
  };
  using task_map = std::map<int, std::string>;

  const task_map& tasks(std::string_view job) const;

  std::map<std::string, task_map, by_nature> jobs_;
  std::map<std::string, std::string> owners_;  // "task 0 of job 'ps'", by the address in its one spelling
};

// The cluster in JSON, as the "cluster" object of TensorFlow's TF_CONFIG: {"ps": {"0": "a:1", "5": "b:1"}, "worker":
// ["c:1", "d:1"]}. A job whose tasks are 0, 1, 2, ... is a list.
std::string to_string(const cluster_spec& cluster);

namespace detail {

// The texts of some values, separated by commas.
template <class Values, class Text>
std::string joined(const Values& values, Text text) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ", ") + text(value);
  return list;
}

// A list for a sentence, or "none".
std::string or_none(std::string list);

// A task for a sentence, such as "task 1 of job 'worker'".
std::string task_name(std::string_view job, int task);

// Throws invalid_argument.
[[noreturn]] void refuse_cluster(const std::string& sentence);

}  // namespace detail

std::string to_string(const cluster_spec& cluster);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/spec/cluster_spec.ipp>
#endif
