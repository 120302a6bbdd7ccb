// Bodies of <pinion/train/session/task_probe.hpp>.
#pragma once

#include <set>
#include <string>

#include <pinion/graph/device_guard.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/session/task_probe.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL bool may_come_back(const error& e) {
  return e.code() == errc::aborted || e.code() == errc::unavailable || e.code() == errc::deadline_exceeded;
}

PINION_DECL task_probe::task_probe(graph_view of) {
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
  for (auto* const limit : {&how.startup_timeout, &how.operation_timeout})
    *limit = limit->count() == 0 ? at_most : std::min(*limit, at_most);
  try {
    session(how).run(run_request{.targets = nodes_});
  } catch (const error& e) {
    if (may_come_back(e)) throw;
  }
}

}}}  // namespace pinion::v0::train
