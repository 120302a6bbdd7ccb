// The part of one process in a job: which task it is, and how the job trains; as words of a command line.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/spec/cluster_spec.hpp>

#include "../words.hpp"

namespace faults {

using bench::words;

// The way in which a job trains, the same for all of its tasks.
struct training {
  std::string mode = "async";  // or "sync" or "ssp"
  std::string folder;          // of checkpoints; "": none
  std::string ledger;          // the file of accepted steps
  double max_wait = 45;        // seconds that a session waits for tasks and for the chief
  double worker_timeout = 15;  // seconds that replicas wait for one that is not heard of
  bool elastic = false;        // may tasks come back elsewhere?
  bool shared_memory = true;   // else all bytes go by TCP

  std::vector<std::string> options() const {
    return {"--mode=" + mode,
            "--folder=" + folder,
            "--ledger=" + ledger,
            fmt::format("--max-wait={}", max_wait),
            fmt::format("--worker-timeout={}", worker_timeout),
            fmt::format("--elastic={:d}", elastic),
            fmt::format("--shared-memory={:d}", shared_memory)};
  }
  static training of(const words& w) {
    const training usual;
    return {w.get("--mode"),
            w.get("--folder"),
            w.get("--ledger"),
            w.number("--max-wait", usual.max_wait),
            w.number("--worker-timeout", usual.worker_timeout),
            w.number("--elastic", usual.elastic) != 0,
            w.number("--shared-memory", usual.shared_memory) != 0};
  }
};

inline std::string joined(const pinion::cluster_spec& cluster, const std::string& job) {
  std::string list;
  for (const int task : cluster.task_indices(job)) list += (list.empty() ? "" : ",") + cluster.address(job, task);
  return list;
}
// The cluster of the options that launchers give to tasks.
inline pinion::cluster_spec cluster_of(const words& w) {
  pinion::cluster_spec cluster;
  for (const std::string job : {"ps", "worker"}) {
    std::string rest = w.get("--" + job + "-hosts");
    for (int task = 0; !rest.empty(); ++task) {
      const auto comma = rest.find(',');
      cluster.add_task(job, task, rest.substr(0, comma));
      rest = comma == rest.npos ? "" : rest.substr(comma + 1);
    }
  }
  return cluster;
}

}  // namespace faults
