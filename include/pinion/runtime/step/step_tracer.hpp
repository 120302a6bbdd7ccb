// Records the events of a step while it runs.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/device.hpp>
#include <pinion/runtime/step/step_trace.hpp>

namespace pinion { inline namespace v0 {

// The recorder of one run of a step in one task. Owned by the code that runs the step, and outlives the run.
// Thread-safe.
class step_tracer {
 public:
  using clock = std::chrono::steady_clock;

  void add(trace_event e);
  // Records an event of a stream. take() gives it the times of the marks.
  void add(trace_event e, std::shared_ptr<const devices::mark> begin, std::shared_ptr<const devices::mark> end);
  // Requires: the streams have reached the marks. An event with one that is not reached keeps the times that it had.
  step_trace take();
  // Converts to nanoseconds since 1970. The result never runs backwards, even if the system clock is set meanwhile.
  std::int64_t time_of(clock::time_point t) const { return began_on_the_wall_ + nanoseconds(t - began_); }
  // The system's number of the calling thread.
  static std::int64_t this_thread();
  std::int64_t now() const { return time_of(clock::now()); }

 private:
  template <class D>
  static std::int64_t nanoseconds(D d) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
  }

  const clock::time_point began_ = clock::now();
  const std::int64_t began_on_the_wall_ = nanoseconds(std::chrono::system_clock::now().time_since_epoch());
  // An event of the trace whose times are those of two marks.
  struct marked_event {
    std::size_t number;
    std::shared_ptr<const devices::mark> begin, end;
  };
  bool keep(trace_event e);
  void read(const marked_event& m);

  std::mutex mutex_;
  step_trace trace_;
  std::vector<marked_event> marked_;
};

namespace runtime {

// Measures one item, from construction to end(). On a device with a stream both are marks in the stream; an item that
// fails is not recorded. The tracer outlives it.
class traced_item {
 public:
  traced_item(step_tracer& into, devices::device& on, trace_event what);
  // Records the item, once; `bytes` are added to the bytes it was constructed with.
  void end(std::int64_t bytes);

 private:
  step_tracer* into_;
  devices::stream* stream_;
  std::shared_ptr<const devices::mark> begin_;  // null: the device has no stream
  trace_event event_;
};

}  // namespace runtime

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/step_tracer.ipp>
#endif
