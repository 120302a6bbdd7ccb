// Keeps a queue filled: threads that run its enqueue operations until there is nothing more to put, or all are to stop.
// Rules: TensorFlow 1.15, queue_runner_impl.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/queue/spelling.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A queue and the operations that fill it. A value: copies are the same runner. Its threads belong to the coordinator
// that they were started with; where the session goes before them, that is what stops them.
class queue_runner {
 public:
  // Makes the operations that close the queue. An enqueue that fails with one of the codes has found its input closed:
  // the last thread to see that closes the queue, so that the end of the input is passed on.
  queue_runner(const any_queue& queue, std::vector<operation> enqueues,
               std::vector<errc> closed_by = {errc::out_of_range}, source_location where = source_location::current());

  const std::string& name() const;

  // Starts a thread for each enqueue, and one that cancels them when the coordinator stops. What an enqueue throws
  // otherwise stops the coordinator. Does nothing while threads for the same session run.
  void start(session& of, coordinator& with) const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

// Remembers a runner with its graph, for start_queue_runners and monitored sessions.
void add_queue_runner(const queue_runner& runner);
// Starts every runner that was added to the session's graph.
void start_queue_runners(session& on, coordinator& with);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/queue_runner.ipp>
#endif
