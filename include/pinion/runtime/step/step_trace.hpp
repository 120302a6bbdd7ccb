// A record of one step: which node ran on which device and when, which value moved between which devices, and how much
// memory its values had meanwhile.
//
//   pn::step_trace trace;
//   sess.run(trace, {{X, batch}}, loss);
//   trace.save("timeline.json");                   // for Perfetto, or chrome://tracing
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 {

// One node that ran on its device, or one end of a transfer between devices. On a device with a stream the times are
// those of the stream. A receive begins when its device is ready for the value and ends when the value has arrived.
struct trace_event {
  enum kind_t : int { compute, send, receive } kind = compute;
  std::string node = {}, op = {};  // of a transfer: the node whose output is moved
  std::string device = {};         // full name; of a transfer: the device at this end
  // of a transfer, equal at both ends: "W/read:0;FROM;TO", "W/read:done;FROM;TO", or "all before NODE:done;FROM;TO"
  std::string key = {};
  std::int64_t start = 0;     // nanoseconds since 1970, by the clock of the task
  std::int64_t duration = 0;  // nanoseconds
  std::int64_t bytes = 0;     // written: size of the outputs or of the value; for strings without their text
  std::int64_t read = 0;      // size of the inputs, counted likewise; 0 for a transfer
  // The thread that computed it, by the number that the system gives threads; on a device with a stream, the one that
  // gave it to the stream.
  std::int64_t thread = 0;
  std::string fused = {};  // the scalar operations that became this one node: "add, exp, mul"; "" for other nodes
  // In a step that failed, the node at which it did has failed, and what was still under way then was cut off.
  enum ended_t : int { well, failed, cut_off } ended = well;
  friend bool operator==(const trace_event&, const trace_event&) = default;
};

// The memory that the values of a step have on a device from some time on, until its next sample. A value has its
// memory from when its node begins, or it arrives, until its last reader has ended; a fetched one has it until the step
// ends. Memory that several values share counts once. What kernels use while they run does not count, nor do variables
// that no node reads.
struct memory_sample {
  std::string device = {};  // full name
  std::int64_t time = 0;    // as trace_event::start
  std::int64_t bytes = 0;
  friend bool operator==(const memory_sample&, const memory_sample&) = default;
};

// The events of one step, filled by session::run and owned by the caller; a plain value. Its nodes are those of the
// optimized graph: nodes that were folded or fused do not run and have no event. Nodes inside bodies (cond, while_loop)
// have events of their own, beside that of the node that owns the body.
struct step_trace {
  // Each task keeps this many events of a step, the first recorded; later ones are only counted in left_out. It also
  // keeps the memory of so many values.
  static constexpr std::size_t most_events = 100'000;

  std::vector<trace_event> events = {};
  std::int64_t left_out = 0;               // events that were dropped beyond most_events
  std::vector<memory_sample> memory = {};  // of each device in the order of time
  std::string failure = {};                // why the step failed; "" if it ended well

  // The most bytes that the values of the step had on a device at once, which is named in part or whole: "/cpu:0". Of
  // several devices that have the name it is the most that one of them had; 0 if none of them has samples. Throws
  // invalid_argument for what names no device.
  std::int64_t peak(const std::string& device) const;
  // Adds what another task has recorded. The clocks of two tasks may differ, so its times are shifted by the least that
  // puts them between `begin` and `end` (nanoseconds since 1970 by the clock of this task).
  void merge(step_trace part, std::int64_t begin, std::int64_t end);

  // Returns the Trace Event JSON that Perfetto and chrome://tracing read: a process per task, in it one row per device
  // for nodes (more where nodes overlap) and one for transfers, an arrow per transferred value, and a counter per
  // device for the memory. Nodes that failed or were cut off say so in their names. Times are microseconds since the
  // first event, whose own time is otherData.began_ns.
  std::string to_json() const;
  // Writes to_json() to a file. The file appears whole or not at all. Throws the errors of files::output_file.
  void save(const file_path& path) const;
  friend bool operator==(const step_trace&, const step_trace&) = default;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/step_trace.ipp>
#include <pinion/runtime/step/timeline.ipp>
#endif
