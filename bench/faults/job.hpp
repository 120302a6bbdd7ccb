// A training job of real processes: a ps, a chief and two workers, which say lines and can be hurt.
#pragma once

#include <poll.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../examples/support/process.hpp"
#include "../../examples/support/stopwatch.hpp"
#include "ledger.hpp"
#include "part.hpp"

namespace faults {

// "ps 0", "worker 0" (the chief), "worker 1", "worker 2"; "launcher 0".
struct member {
  std::string job;
  int task = 0;
  auto operator<=>(const member&) const = default;
  std::string name() const { return fmt::format("{} {}", job, task); }
};

inline std::vector<member> all_members() {
  std::vector<member> all{{"ps", 0}};
  for (int task = 0; task < workers; ++task) all.push_back({"worker", task});
  return all;
}

// Something that a process said; the time is in seconds since the job was made.
struct line {
  double at;
  std::string text;
};

// Owns the processes: none outlives it. For one thread.
class job {
 public:
  job(training how, pinion::cluster_spec cluster) : how_(std::move(how)), cluster_(std::move(cluster)) {}

  const training& how() const { return how_; }
  const pinion::cluster_spec& cluster() const { return cluster_; }
  double now() const { return clock_.seconds(); }
  const std::vector<line>& lines() const { return lines_; }

  // The others find this task at another address than its own.
  void put_front(const member& who, const std::string& address) { fronts_[who] = address; }
  // The words before those of a task's program.
  void put_prefix(const member& who, std::vector<std::string> words) { prefixes_[who] = std::move(words); }

  // Starts a task, in place of the process that it had.
  void start(const member& who) { start_as(who.name(), who, seen_by(who)); }
  // Starts a worker in place of the process that it had, as a chief.
  void start_as_chief(const member& who) { start_as(who.name(), who, seen_by(who), {"--chief"}); }
  // Starts a task once more, beside the process that it has, at its own address or at another.
  void start_second(const member& who, const std::string& address = "") {
    start_as(who.name() + " (second)", who, address.empty() ? seen_by(who) : with(seen_by(who), who, address));
  }
  // Starts the program that starts all tasks.
  void start_launcher() {
    std::vector<std::string> options = how_.options();
    options.insert(options.begin(), "--launch");
    start_as("launcher 0", "launcher 0", options);
  }

  // A process by its name; null where it has ended, or was not started.
  const process* find(const std::string& name) const {
    const auto at = processes_.find(name);
    return at == processes_.end() || at->second.output() < 0 ? nullptr : &at->second;
  }
  bool runs(const std::string& name) const { return find(name) != nullptr; }
  bool is_stopped(const std::string& name) const { return stopped_.contains(name); }
  void signal(const std::string& name, int number) {
    if (const process* p = find(name)) ::kill(p->pid(), number);
    if (number == SIGSTOP) stopped_.insert(name);
    if (number == SIGCONT && stopped_.erase(name) > 0) started_[name] = now();
  }
  // Lets a process open no descriptor beyond the standard ones any more, or as many as it likes.
  void limit_descriptors(const std::string& name, bool limited) const {
    const process* p = find(name);
    if (!p) return;
    rlimit l{};
    ::prlimit(p->pid(), RLIMIT_NOFILE, nullptr, &l);
    l.rlim_cur = limited ? 3 : l.rlim_max;
    ::prlimit(p->pid(), RLIMIT_NOFILE, &l, nullptr);
  }
  // The time when a process was started, or went on.
  double started(const std::string& name) const { return started_.at(name); }
  // The end of each process that has ended: "" for well.
  const std::map<std::string, std::string>& ends() const { return ends_; }

  // Hears what is said, and who ends, for some milliseconds.
  void listen(int milliseconds) {
    std::vector<pollfd> sources;
    std::vector<std::string> names;
    for (const auto& [name, p] : processes_)
      if (p.output() >= 0) {
        sources.push_back({p.output(), POLLIN, 0});
        names.push_back(name);
      }
    ::poll(sources.data(), sources.size(), milliseconds);
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (sources[i].revents != 0) hear(names[i]);
  }

 private:
  void start_as(const std::string& name, const member& who, const pinion::cluster_spec& cluster,
                std::vector<std::string> options = {}) {
    for (const std::string& all : how_.options()) options.push_back(all);
    const std::vector<std::string> place{"--job=" + who.job, fmt::format("--task={}", who.task),
                                         "--ps-hosts=" + joined(cluster, "ps"),
                                         "--worker-hosts=" + joined(cluster, "worker")};
    options.insert(options.end(), place.begin(), place.end());
    start_as(name, name, options, prefixes_[who]);
  }
  void start_as(const std::string& key, const std::string& name, const std::vector<std::string>& options,
                std::vector<std::string> prefix = {}) {
    const std::string program = fmt::format("/proc/{}/exe", ::getpid());  // which holds in each namespace
    prefix.push_back(program);
    prefix.insert(prefix.end(), options.begin(), options.end());
    const std::string first = prefix.front() == "env" ? "/usr/bin/env" : program;
    processes_.erase(key);
    processes_.emplace(key, process(name, first, std::move(prefix)));
    rests_[key].clear();
    stopped_.erase(key);
    ends_.erase(key);
    started_[key] = now();
  }
  pinion::cluster_spec seen_by(const member& who) const {
    pinion::cluster_spec seen = cluster_;
    for (const auto& [other, address] : fronts_)
      if (other != who) seen = with(seen, other, address);
    return seen;
  }
  static pinion::cluster_spec with(const pinion::cluster_spec& cluster, const member& who, const std::string& address) {
    pinion::cluster_spec changed;
    for (const std::string& j : cluster.jobs())
      for (const int t : cluster.task_indices(j))
        changed.add_task(j, t, member{j, t} == who ? address : cluster.address(j, t));
    return changed;
  }
  void hear(const std::string& name) {
    process& p = processes_.at(name);
    const std::string said = p.read();
    if (said.empty()) ends_[name] = p.wait();
    for (const char c : said) {
      if (c != '\n') {
        rests_[name] += c;
      } else {
        lines_.push_back({now(), std::exchange(rests_[name], {})});
      }
    }
  }

  training how_;
  pinion::cluster_spec cluster_;
  stopwatch clock_;
  std::map<member, std::string> fronts_;
  std::map<member, std::vector<std::string>> prefixes_;
  std::map<std::string, process> processes_;
  std::map<std::string, std::string> rests_, ends_;  // lines of which a part has come, and how they ended
  std::map<std::string, double> started_;
  std::set<std::string> stopped_;
  std::vector<line> lines_;
};

}  // namespace faults
