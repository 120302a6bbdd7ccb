// What happened in one step: which node ran where and when, and which value went from where to where.
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

// One node on its device, or one end of a transfer. On a device with a stream the times are those of the stream. A
// receive lasts from when its device was ready for the value until the value was there.
struct trace_event {
  enum kind_t { compute, send, receive } kind = compute;
  std::string node = {}, op = {};  // of a transfer: the node whose value it carries
  std::string device = {};         // in full; of a transfer: of this end of it
  std::string key = {};       // of a transfer: "W/read:0;FROM;TO", the same at both ends; ":done" of a control edge
  std::int64_t start = 0;     // nanoseconds since 1970 by the clock of the task
  std::int64_t duration = 0;  // nanoseconds
  std::int64_t bytes = 0;     // of the outputs, or of the value; strings count what they take without their text
  friend bool operator==(const trace_event&, const trace_event&) = default;
};

// A value; filled by session::run. The step is the graph as it was optimized: nodes that were folded or fused do not
// run. Nodes of bodies (cond, while_loop) are there beside the node whose bodies they are.
struct step_trace {
  // So many of a task are kept of one step, the first ones.
  static constexpr std::size_t most_events = 100'000;

  std::vector<trace_event> events = {};
  std::int64_t left_out = 0;  // events beyond that

  // The events of another task. Its clock may differ from this one's: its events are shifted, by as little as it takes,
  // to lie between `begin` and `end`.
  void merge(step_trace part, std::int64_t begin, std::int64_t end);

  // As trace events in JSON: a process for each task; for each device a row of its nodes, with more rows where they ran
  // beside each other, and one of its transfers; an arrow for each value that came over. Times are microseconds since
  // the first event, otherData.began_ns is that one's.
  std::string to_json() const;
  // Writes that to a file, which is there whole or not at all. Errors are those of files::output_file.
  void save(const file_path& path) const;
  friend bool operator==(const step_trace&, const step_trace&) = default;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/step_trace.ipp>
#include <pinion/runtime/step/timeline.ipp>
#endif
