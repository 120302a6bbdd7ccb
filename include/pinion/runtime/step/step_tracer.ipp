// Bodies of <pinion/runtime/step/step_tracer.hpp>.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
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

PINION_DECL void step_tracer::add(const devices::device& on, std::vector<held_memory> all) {
  std::lock_guard hold(mutex_);
  all.resize(std::min(all.size(), step_trace::most_events - values_));
  values_ += all.size();
  auto& held = held_[on.name()];
  std::move(all.begin(), all.end(), std::back_inserter(held));
}

PINION_DECL step_trace step_tracer::take() {
  std::lock_guard hold(mutex_);
  for (const marked_event& m : std::exchange(marked_, {})) read(m);
  for (const auto& [device, all] : std::exchange(held_, {})) sample(device, all);
  values_ = 0;
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

PINION_DECL std::int64_t step_tracer::time_of(const trace_moment& m) const {
  const auto reached = m.mark ? m.mark->time() : std::nullopt;
  return reached ? time_of(*reached) : m.at;
}

// At one time, what begins comes before what ends: a value that takes over the memory of another never leaves it.
PINION_DECL void step_tracer::sample(const std::string& device, const std::vector<held_memory>& all) {
  struct change {
    std::int64_t time;
    bool ends;
    const held_memory* of;
  };
  std::vector<change> changes;
  for (const held_memory& h : all) {
    const std::int64_t from = time_of(h.from);
    changes.push_back({from, false, &h});
    changes.push_back({std::max(from, time_of(h.until)), true, &h});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const change& a, const change& b) {
    return std::tie(a.time, a.ends) < std::tie(b.time, b.ends);
  });
  std::map<const buffer*, int> values;  // of each block
  std::int64_t bytes = 0, told = -1;
  for (auto at = changes.begin(); at != changes.end();) {
    const std::int64_t time = at->time;
    for (; at != changes.end() && at->time == time; ++at)
      if (at->ends ? --values[at->of->block] == 0 : values[at->of->block]++ == 0)
        bytes += at->ends ? -at->of->bytes : at->of->bytes;
    if (bytes != std::exchange(told, bytes)) trace_.memory.push_back({device, time, bytes});
  }
}

PINION_DECL trace_moment step_tracer::moment_of(devices::device& on) const {
  return {now(), on.stream() ? on.stream()->mark() : nullptr};
}

PINION_DECL std::int64_t step_tracer::this_thread() {
  return ::gettid();
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL traced_item::traced_item(step_tracer& into, devices::device& on, trace_event what)
    : into_(&into), device_(&on), began_(into.moment_of(on)), event_(std::move(what)) {
  event_.start = began_.at;
}

PINION_DECL trace_moment traced_item::end(std::int64_t bytes, trace_event::ended_t how) {
  event_.bytes += bytes;
  event_.ended = how;
  trace_moment ended = into_->moment_of(*device_);
  event_.duration = ended.at - event_.start;
  if (ended.mark)
    into_->add(std::move(event_), began_.mark, ended.mark);
  else
    into_->add(std::move(event_));
  return ended;
}

}}}  // namespace pinion::v0::runtime
