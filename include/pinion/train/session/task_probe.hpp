// Are the tasks there that a graph speaks of? Found out with a small graph of its own, so that a deadline is one for
// the tasks to answer, not for the work of a step.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <pinion/runtime/session.hpp>

namespace pinion::inline v0::train {

class task_probe {
 public:
  // A node on each task, or set of tasks, that a node of the graph asks for.
  PINION_DECL explicit task_probe(const graph& of);

  // Throws unavailable, aborted or deadline_exceeded, with the name of a task that does not answer in that time; what
  // else goes wrong is left for the session to meet.
  PINION_DECL void run(session_options how, std::chrono::milliseconds at_most) const;

 private:
  std::shared_ptr<graph> graph_ = std::make_shared<graph>();
  std::vector<operation> nodes_;
};

// Is it the error of a task that died, restarted or does not answer, and may come back?
inline bool may_come_back(const error& e) {
  return e.code() == errc::aborted || e.code() == errc::unavailable || e.code() == errc::deadline_exceeded;
}

}  // namespace pinion::inline v0::train

#if PINION_DEFINE_RUNTIME
#include <set>
#include <string>

#include <pinion/dsl/control.hpp>
#include <pinion/graph/device_guard.hpp>

namespace pinion::inline v0::train {

PINION_DECL task_probe::task_probe(const graph& of) {
  std::set<std::string> tasks;
  for (node_id id = 0; id < of.size(); ++id)
    if (of.contains(id)) {
      const device_spec& asked = of[id].requested;
      tasks.insert(
          to_string(device_spec{}.with_job(asked.job()).with_replica(asked.replica()).with_task(asked.task())));
    }
  const auto use = graph_->as_default();
  for (const std::string& task : tasks) {
    const device there{task};
    nodes_.push_back(no_op("probe"));
  }
}

PINION_DECL void task_probe::run(session_options how, std::chrono::milliseconds at_most) const {
  how.graph = graph_.get();
  how.log_device_placement = false;
  how.operation_timeout = how.operation_timeout.count() == 0 ? at_most : std::min(how.operation_timeout, at_most);
  try {
    session(how).run(run_request{.targets = nodes_});
  } catch (const error& e) {
    if (may_come_back(e)) throw;
  }
}

}  // namespace pinion::inline v0::train
#endif
