// The jobs of a cluster as a type, so that the compiler knows which tasks exist.
//
//   using cluster = pn::static_cluster<pn::job<"ps", 2>, pn::job<"worker", 3>>;
//   auto q = cluster::place<"/job:worker/task:3">(x + 1);       // does not compile: job worker has tasks 0..2
//
// The messages for a place that no task meets are those of check(): "the cluster has no such job", and with g++ "the
// cluster has jobs ps worker"; "the job has no such task", and "job worker has tasks 0..2".
#pragma once

#include <string_view>

#include <pinion/base/error.hpp>
#include <pinion/base/static_text.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/place.hpp>

namespace pinion { inline namespace v0 {

// A job with its number of tasks, numbered from 0. It has no state. A job may have no tasks; every place on it is then
// refused.
template <fixed_string Name, int Tasks>
struct job {
  static_assert(Tasks >= 0, "a job has no negative number of tasks");
  static_assert(is_job_name(std::string_view(Name.s, sizeof(Name.s) - 1)),
                "bad job name; write a letter, then letters, digits, _ or -, at most 63");
  // The name in characters, as a type.
  static constexpr auto letters = as_chars<Name>();
  static constexpr std::string_view name = letters.view();
  // The tasks are 0 to tasks - 1.
  static constexpr int tasks = Tasks;
};

namespace detail {

// Names that an error shows beside its sentence, such as job_has_tasks<chars<'p', 's'>, 0, 1>.
template <class Job, int First, int Last>
inline constexpr bool job_has_tasks = false;
template <class Job>
inline constexpr bool is_no_job_of_the_cluster = false;

// True if no name occurs twice.
template <class... Jobs>
constexpr bool are_distinct() {
  const std::string_view names[] = {Jobs::name..., ""};
  for (std::size_t i = 0; i < sizeof...(Jobs); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (names[i] == names[k]) return false;
  return true;
}

}  // namespace detail

// The jobs of a cluster that the compiler knows. It has no state. Users write static_cluster, which is derived from it.
template <class... Jobs>
struct static_jobs {
  static_assert(detail::are_distinct<Jobs...>(), "a job is listed twice");
  // The number of a job's tasks; -1 if there is no such job.
  //
  //   static_assert(pn::static_jobs<pn::job<"ps", 2>>::tasks("ps") == 2);
  static constexpr int tasks(std::string_view job) {
    int count = -1;
    ((Jobs::name == job ? void(count = Jobs::tasks) : void()), ...);
    return count;
  }
  // True if there is a task that meets the spec. Open fields are met by any task.
  static constexpr bool has(const device_spec& s) {
    return (((s.job().empty() || s.job() == Jobs::name) && s.task() < Jobs::tasks && Jobs::tasks > 0) || ...) &&
           s.replica() <= 0;
  }

  // Stops the compiler at a place that no task meets, with a sentence that tells which tasks exist. Compilers show the
  // sentence as a static assertion, "the job has no such task", and the tasks that there are beside it.
  template <place_tag_type Tag>
  static constexpr void check() {
    constexpr device_spec s = Tag::spec;
    constexpr int count = tasks(s.job());
    using job_name = decltype(name_of(Tag{}));
    static_assert(s.replica() <= 0, "the tasks of a cluster have replica 0 alone");
    if constexpr (!s.job().empty() && count < 0) {
      static_assert(refused<as_fixed_string<jobs_sentence>()>, "the cluster has no such job");
      static_assert(detail::is_no_job_of_the_cluster<job_name>, "the cluster has no such job");
    } else if constexpr (!s.job().empty() && (s.task() >= count || count == 0)) {
      static_assert(refused<as_fixed_string<tasks_sentence<Tag>>()>, "the job has no such task");
      static_assert(detail::job_has_tasks<job_name, 0, count - 1>, "the job has no such task");
    } else {
      static_assert(has(s), "no job of the cluster has such a task");
    }
  }

  // Compares a cluster with these jobs. Throws invalid_argument unless each job has just the tasks 0 to N - 1, and
  // there are no others. The sentence names the job and both numbers of tasks.
  static void expect(const cluster_spec& cluster) {
    (expect_job<Jobs>(cluster), ...);
    for (const auto& name : cluster.jobs())
      if (tasks(name) < 0)
        throw error(errc::invalid_argument, "the cluster has a job '" + name + "' that the program does not know");
  }

 private:
  // The name of a tag's job, as a type.
  template <class Job, int Replica, int Task, class Type, int Index>
  static Job name_of(place_tag<Job, Replica, Task, Type, Index>);

  // A sentence that lists the jobs.
  struct jobs_sentence {
    constexpr static_text operator()() const {
      static_text text;
      text << "the cluster has jobs";
      ((text << " " << Jobs::name), ...);
      return text;
    }
  };
  // A sentence that lists the tasks of a tag's job.
  template <class Tag>
  struct tasks_sentence {
    constexpr static_text operator()() const {
      constexpr int count = tasks(Tag::spec.job());
      static_text text;
      text << "job " << Tag::spec.job();
      if (count == 0) return text << " has no tasks";
      return text << " has tasks 0.." << count - 1;
    }
  };
  // Throws invalid_argument unless a cluster's job has just the tasks 0 to N - 1.
  template <class Job>
  static void expect_job(const cluster_spec& cluster) {
    const std::string name(Job::name);
    const int there = cluster.has(name) ? cluster.num_tasks(name) : 0;
    bool dense = there == Job::tasks;
    if (dense && there > 0)
      for (const int task : cluster.task_indices(name)) dense = dense && task < there;
    if (!dense)
      throw error(errc::invalid_argument, "the program was compiled for " + std::to_string(Job::tasks) +
                                              " tasks of job '" + name + "', numbered from 0; the cluster has " +
                                              std::to_string(there));
  }
};

}}  // namespace pinion::v0
