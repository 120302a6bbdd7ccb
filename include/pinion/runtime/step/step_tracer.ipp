// Bodies of <pinion/runtime/step/step_tracer.hpp>.
#pragma once

#include <unistd.h>

#include <utility>

#include <pinion/runtime/step/step_tracer.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void step_tracer::add(trace_event e) {
  std::lock_guard hold(mutex_);
  keep(std::move(e));
}

PINION_DECL void step_tracer::add(trace_event e, std::shared_ptr<const devices::mark> begin,
                                  std::shared_ptr<const devices::mark> end) {
  std::lock_guard hold(mutex_);
  if (keep(std::move(e))) marked_.push_back({trace_.events.size() - 1, std::move(begin), std::move(end)});
}

PINION_DECL step_trace step_tracer::take() {
  std::lock_guard hold(mutex_);
  for (const marked_event& m : std::exchange(marked_, {})) read(m);
  return std::exchange(trace_, {});
}

PINION_DECL bool step_tracer::keep(trace_event e) {
  const bool room = trace_.events.size() < step_trace::most_events;
  if (room)
    trace_.events.push_back(std::move(e));
  else
    ++trace_.left_out;
  return room;
}

PINION_DECL void step_tracer::read(const marked_event& m) {
  const auto begin = m.begin->time(), end = m.end->time();
  if (!begin || !end) return;
  trace_event& e = trace_.events[m.number];
  e.start = time_of(*begin);
  e.duration = time_of(*end) - e.start;
}

PINION_DECL std::int64_t step_tracer::this_thread() {
  return ::gettid();
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL traced_item::traced_item(step_tracer& into, devices::device& on, trace_event what)
    : into_(&into), stream_(on.stream()), event_(std::move(what)) {
  event_.start = into.now();
  if (stream_) begin_ = stream_->mark();
}

PINION_DECL void traced_item::end(std::int64_t bytes) {
  event_.bytes += bytes;
  event_.duration = into_->now() - event_.start;
  if (stream_)
    into_->add(std::move(event_), std::move(begin_), stream_->mark());
  else
    into_->add(std::move(event_));
}

}}}  // namespace pinion::v0::runtime
