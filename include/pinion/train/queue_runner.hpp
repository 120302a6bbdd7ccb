// A queue runner keeps a queue filled: its threads run the queue's enqueue operations until the input ends or the
// coordinator stops. Rules: TensorFlow 1.15, queue_runner_impl.py.
//
//   tr::coordinator coord;
//   tr::queue_runner runner{q, {put}};                                      // one thread for each operation
//   runner.start(sess, coord);
//
// A monitored session starts the runners of its graph by itself: tr::add_queue_runner(runner) is enough there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/queue/functions.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A queue with the operations that fill it. A value: copies are the same runner. The threads belong to the coordinator
// that start() was given; the runner and its copies may go before them. If the session is destroyed while they run, its
// error stops them. start() may be called by several threads. An error of an enqueue operation reaches the caller of
// coordinator::join.
//
//   pn::fifo_queue<float> q({.capacity = 100, .shapes = {{784}}});
//   tr::add_queue_runner(tr::queue_runner{q, std::vector<pn::operation>(4, q.enqueue(row))});   // four threads
class queue_runner {
 public:
  // Adds to the graph the operations that close the queue. When an enqueue fails with one of the codes `closed_by`, its
  // input has ended; the last thread that sees this closes the queue, so that the consumers see the end of the input
  // too. Throws invalid_argument if there are no enqueue operations, or if one belongs to another graph than the queue.
  queue_runner(const any_queue& queue, std::vector<operation> enqueues,
               std::vector<errc> closed_by = {errc::out_of_range}, source_location where = source_location::current());

  // The name of the queue.
  const std::string& name() const;

  // Starts a thread for each enqueue operation, and one that closes the queue and cancels pending enqueues when the
  // coordinator stops. An enqueue that fails with any other code stops the coordinator with that error. Does nothing
  // while threads for the same session run. Requires: the coordinator outlives its threads.
  void start(session& of, coordinator& with) const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

// Adds a runner to the default graph, where start_queue_runners and monitored sessions find it.
void add_queue_runner(const queue_runner& runner);
// Starts every runner that was added to the session's graph, as queue_runner::start does.
void start_queue_runners(session& on, coordinator& with);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/queue_runner.ipp>
#endif
