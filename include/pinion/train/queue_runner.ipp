// Bodies of <pinion/train/queue_runner.hpp>.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <pinion/train/queue_runner.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct queue_runner::state {
  std::string name;
  std::vector<operation> enqueues;
  std::vector<errc> closed_by;
  operation close, cancel;
  std::mutex mutex;
  std::map<session_link, std::size_t> running;  // the number of threads for each session

  void fill(const operation& enqueue, const session_link& on, coordinator& with);
};

namespace detail {
struct queue_runners {
  std::vector<queue_runner> all;
};
}  // namespace detail

PINION_DECL void add_queue_runner(const queue_runner& runner) {
  default_graph().attached<detail::queue_runners>().all.push_back(runner);
}

PINION_DECL void start_queue_runners(session& on, coordinator& with) {
  for (const queue_runner& r : on.graph().attached<detail::queue_runners>().all) r.start(on, with);
}

PINION_DECL const std::string& queue_runner::name() const {
  return state_->name;
}

PINION_DECL queue_runner::queue_runner(const any_queue& queue, std::vector<operation> enqueues,
                                       std::vector<errc> closed_by, source_location where)
    : state_(std::make_shared<state>()) {
  if (enqueues.empty())
    throw error(errc::invalid_argument, "a queue_runner of '" + queue.name() + "' was given nothing to run");
  for (const operation& enqueue : enqueues) static_cast<void>(enqueue.id(queue.owner()));
  state_->name = queue.name();
  state_->enqueues = std::move(enqueues);
  state_->closed_by = std::move(closed_by);
  state_->close = queue.close({}, where);
  state_->cancel = queue.close({.cancel_pending_enqueues = true}, where);
}

PINION_DECL void queue_runner::start(session& of, coordinator& with) const {
  const session_link on(of);
  {
    std::lock_guard hold(state_->mutex);
    std::size_t& running = state_->running[on];
    if (running > 0) return;
    running = state_->enqueues.size();
  }
  for (const operation& enqueue : state_->enqueues)
    with.launch("runs " + enqueue.name(), [s = state_, enqueue, on, &with] { s->fill(enqueue, on, with); });
  with.launch("closes " + name() + " at the stop", [s = state_, on, &with] {
    with.wait_for_stop();
    on.run(s->cancel);
  });
}

PINION_DECL void queue_runner::state::fill(const operation& enqueue, const session_link& on, coordinator& with) {
  const auto left = [&] {
    std::lock_guard hold(mutex);
    const std::size_t others = --running[on];
    if (others == 0) running.erase(on);
    return others;
  };
  try {
    while (!with.should_stop()) on.run(enqueue);
    left();
  } catch (...) {
    const error e = current_error();
    const bool last = left() == 0;
    if (std::find(closed_by.begin(), closed_by.end(), e.code()) == closed_by.end()) throw;
    if (last) on.run(close);
  }
}

}}}  // namespace pinion::v0::train
