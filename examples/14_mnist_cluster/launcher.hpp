// Starts the tasks of a cluster as processes of this machine, shows what they say, and sees to it that all of them end.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed.hpp>

#include "board.hpp"
#include "free_port.hpp"
#include "member.hpp"
#include "process.hpp"
#include "stop_request.hpp"

// Owns the processes: none of them outlives it. For one thread.
class launcher {
 public:
  launcher(int ps, int workers) : board_(static_cast<std::size_t>(ps + workers)) {
    for (int task = 0; task < ps; ++task) add("ps", task);
    for (int task = 0; task < workers; ++task) add("worker", task);
  }

  ~launcher() {
    for (const process& p : processes_) p.kill();  // all at once, so that none complains of another
  }

  // Each task is this program with these options, and those that say which one it is. The workers end by themselves,
  // or when somebody asks this to stop, and then the chief saves; the ps tasks end when they are asked to. Throws when
  // one ends before, or badly, and when somebody has asked this to stop: at once if that was twice.
  void run(const std::vector<std::string>& options) {
    for (const auto& [job, task] : members_) start(job, task, options);
    attend("worker");
    for (const int task : cluster_.task_indices("ps")) pinion::shutdown("pinion://" + cluster_.address("ps", task));
    limit_ms_ = 10000;
    attend("ps");
    if (asked_) throw asked();
  }

 private:
  using id = std::pair<std::string, int>;

  void add(const std::string& job, int task) {
    cluster_.add_task(job, task, ports_.emplace_back().address());
    members_.emplace_back(job, task);
  }
  std::string hosts(const std::string& job) const {
    std::string list;
    for (const int task : cluster_.task_indices(job)) list += (task > 0 ? "," : "") + cluster_.address(job, task);
    return list;
  }
  void start(const std::string& job, int task, std::vector<std::string> options) {
    const std::string name = member{cluster_, job, task}.name();
    options.insert(options.begin(), {"mnist_cluster", "--job=" + job, "--task=" + std::to_string(task),
                                     "--ps-hosts=" + hosts("ps"), "--worker-hosts=" + hosts("worker")});
    const process& p = processes_.emplace_back(name, "/proc/self/exe", options);
    fmt::print("{:<9} {:<16} process {}\n", name, cluster_.address(job, task), p.pid());
    std::fflush(stdout);
  }

  // Shows what all of them say until those of a job have ended.
  void attend(const std::string& job) {
    while (run_still(job)) {
      std::vector<pollfd> sources{{stop_.descriptor(), POLLIN, 0}};
      for (const process& p : processes_) sources.push_back({p.output(), POLLIN, 0});
      const int ready = ::poll(sources.data(), sources.size(), limit_ms_);
      if (ready == 0)
        throw pinion::error(pinion::errc::deadline_exceeded, "a " + job + " was asked to end, but did not");
      if (sources[0].revents != 0) stop();
      for (std::size_t i = 0; i < processes_.size(); ++i)
        if (sources[i + 1].revents != 0) listen(i, members_[i].first == job);
    }
  }
  static pinion::error asked() { return {pinion::errc::cancelled, "asked to stop"}; }
  void stop() {
    if (std::exchange(asked_, true)) throw asked();
    stop_.take();
    limit_ms_ = 10000;
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (members_[i].first == "worker") processes_[i].ask_to_end();
  }
  bool run_still(const std::string& job) const {
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (members_[i].first == job && processes_[i].output() >= 0) return true;
    return false;
  }
  void listen(std::size_t i, bool may_end) {
    process& p = processes_[i];
    const std::string said = p.read();
    if (!said.empty()) return board_.write(i, said);
    const std::string failure = p.wait();
    if (asked_) return;  // one that had not begun to train may know no better end
    if (!failure.empty()) throw pinion::error(pinion::errc::aborted, p.name() + " " + failure);
    if (!may_end) throw pinion::error(pinion::errc::aborted, p.name() + " ended while it was needed");
  }

  const stop_request stop_;
  std::vector<free_port> ports_;
  pinion::cluster_spec cluster_;
  std::vector<id> members_;
  std::vector<process> processes_;  // the i-th is the i-th member
  board board_;
  int limit_ms_ = -1;  // how long nothing may happen
  bool asked_ = false;
};
