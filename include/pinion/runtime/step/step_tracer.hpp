// Records the events of a step while it runs.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/device.hpp>
#include <pinion/runtime/step/step_trace.hpp>

namespace pinion { inline namespace v0 {

// A point of time or, of a device with a stream, a point of the stream.
struct trace_moment {
  std::int64_t at = 0;                             // nanoseconds since 1970
  std::shared_ptr<const devices::mark> mark = {};  // whose time counts once it is reached; null: there is no stream
};

// The time in which a value of a step has its memory. Values of one block share it.
struct held_memory {
  const buffer* block = nullptr;  // tells blocks apart, and may be gone
  std::int64_t bytes = 0;
  trace_moment from = {}, until = {};
};

// The recorder of one run of a step in one task. Owned by the code that runs the step, and outlives the run.
// Thread-safe.
class step_tracer {
 public:
  using clock = std::chrono::steady_clock;

  void add(trace_event e);
  // Records an event of a stream. take() gives it the times of the marks.
  void add(trace_event e, std::shared_ptr<const devices::mark> begin, std::shared_ptr<const devices::mark> end);
  // Records the memory of values on a device.
  void add(const devices::device& on, std::vector<held_memory> all);
  // Requires: the streams have reached the marks. An event with one that is not reached keeps the times that it had.
  step_trace take();
  // Converts to nanoseconds since 1970. The result never runs backwards, even if the system clock is set meanwhile.
  std::int64_t time_of(clock::time_point t) const { return began_on_the_wall_ + nanoseconds(t - began_); }
  // The system's number of the calling thread.
  static std::int64_t this_thread();
  std::int64_t now() const { return time_of(clock::now()); }
  // The present, of the device's stream if it has one.
  trace_moment moment_of(devices::device& on) const;

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
  std::int64_t time_of(const trace_moment& m) const;
  // Adds the samples of a device.
  void sample(const std::string& device, const std::vector<held_memory>& all);

  std::mutex mutex_;
  step_trace trace_;
  std::vector<marked_event> marked_;
  std::map<std::string, std::vector<held_memory>> held_;  // by device
  std::size_t values_ = 0;                                // in held_
};

namespace runtime {

// Measures one item, from construction to end(). On a device with a stream both are marks in the stream. The tracer and
// the device outlive it.
class traced_item {
 public:
  traced_item(step_tracer& into, devices::device& on, trace_event what);
  const trace_moment& began() const { return began_; }
  // Records the item, once, and returns when it ended; `bytes` are added to the bytes it was constructed with.
  trace_moment end(std::int64_t bytes, trace_event::ended_t how = trace_event::well);

 private:
  step_tracer* into_;
  devices::device* device_;
  trace_moment began_;
  trace_event event_;
};

}  // namespace runtime

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/step_tracer.ipp>
#endif
