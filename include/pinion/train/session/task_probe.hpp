// Are the tasks there that a graph speaks of? Found out with a small graph of its own, so that a deadline is one for
// the tasks to answer, not for the work of a step.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

class task_probe {
 public:
  // A node on each task, or set of tasks, that a node of the graph asks for.
  explicit task_probe(const graph& of);

  // Throws unavailable, aborted or deadline_exceeded, with the name of a task that does not answer in that time; what
  // else goes wrong is left for the session to meet.
  void run(session_options how, std::chrono::milliseconds at_most) const;

 private:
  std::shared_ptr<graph> graph_ = std::make_shared<graph>();
  std::vector<operation> nodes_;
};

// Is it the error of a task that died, restarted or does not answer, and may come back?
bool may_come_back(const error& e);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/task_probe.ipp>
#endif
