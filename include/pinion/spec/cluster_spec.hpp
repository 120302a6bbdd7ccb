// Which tasks a cluster has and where each of them listens.
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
    task_entry(int number, const Address& at) : index(number), by_position(false), address(std::string_view(at)) {}

    int index = 0;
    bool by_position = true;
    std::string address;
  };

  // One job in braces, or with a vector of addresses. It may have no task. The vector is a template so that braces
  // never become one.
  struct job_entry {
    job_entry(std::string_view job, std::initializer_list<task_entry> all);
    template <std::same_as<std::vector<std::string>> Addresses>
    job_entry(std::string_view job, const Addresses& addresses)
        : name(job), tasks(addresses.begin(), addresses.end()) {}

    std::string name;
    std::vector<task_entry> tasks;
  };

  cluster_spec();
  cluster_spec(const cluster_spec&);
  cluster_spec(cluster_spec&&) noexcept;
  cluster_spec& operator=(const cluster_spec&);
  cluster_spec& operator=(cluster_spec&&) noexcept;
  ~cluster_spec();
  cluster_spec(std::initializer_list<job_entry> jobs);

  cluster_spec& add_job(std::string_view job);
  cluster_spec& add_task(std::string_view job, int task, std::string_view address);  // makes the job if it is new

  bool has(std::string_view job) const;
  bool has(std::string_view job, int task) const;

  std::vector<std::string> jobs() const;                      // in natural order
  std::vector<int> task_indices(std::string_view job) const;  // ascending
  int num_tasks(std::string_view job) const;
  const std::string& address(std::string_view job, int task) const;

  bool operator==(const cluster_spec& other) const;

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

std::string or_none(std::string list);

std::string task_name(std::string_view job, int task);

[[noreturn]] void refuse_cluster(const std::string& sentence);

}  // namespace detail

std::string to_string(const cluster_spec& cluster);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/spec/cluster_spec.ipp>
#endif
