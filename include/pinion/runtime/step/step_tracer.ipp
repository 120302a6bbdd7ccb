// Bodies of <pinion/runtime/step/step_tracer.hpp>.
#pragma once

#include <unistd.h>

#include <utility>

#include <pinion/runtime/step/step_tracer.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void step_tracer::add(trace_event e) {
  std::lock_guard hold(mutex_);
  if (trace_.events.size() < step_trace::most_events)
    trace_.events.push_back(std::move(e));
  else
    ++trace_.left_out;
}

PINION_DECL step_trace step_tracer::take() {
  std::lock_guard hold(mutex_);
  return std::exchange(trace_, {});
}

PINION_DECL std::int64_t step_tracer::this_thread() {
  return ::gettid();
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL traced_item::traced_item(step_tracer& into, devices::device& on, trace_event what)
    : into_(&into), stream_(on.stream()), event_(std::make_shared<trace_event>(std::move(what))) {
  event_->start = into.now();
  if (stream_) stream_->enqueue([into = into_, e = event_] { e->start = into->now(); });
}

PINION_DECL void traced_item::end(std::int64_t bytes) const {
  event_->bytes += bytes;
  const auto tell = [into = into_, e = event_] {
    e->duration = into->now() - e->start;
    into->add(std::move(*e));
  };
  if (stream_)
    stream_->enqueue(tell);
  else
    tell();
}

}}}  // namespace pinion::v0::runtime
