// A probe that finds out whether the tasks that a graph names are there. It runs a small graph of its own, so that a
// deadline applies to the answers of the tasks and not to the work of a step.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// An empty node on each task, to be run with a deadline. Copies share the graph. The thread of the session uses it. A
// monitored session on a cluster runs it before its variables are made ready, and again in each recovery.
class task_probe {
 public:
  // Makes a node on each task, or set of tasks, that a node of the graph asks for.
  explicit task_probe(graph_view of);

  // Throws unavailable, aborted or deadline_exceeded, with the name of a task that does not answer within that time.
  // Other errors are left for the session to meet.
  void run(session_options how, std::chrono::milliseconds at_most) const;

 private:
  std::shared_ptr<graph> graph_ = std::make_shared<graph>();
  std::vector<operation> nodes_;
};

// True for the error of a task that died, restarted or does not answer, and may come back.
bool may_come_back(const error& e);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/task_probe.ipp>
#endif
