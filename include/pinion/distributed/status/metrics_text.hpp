// A task's report as Prometheus reads it.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/report/task_report.hpp>

namespace pinion { inline namespace v0 {

// The report in the text format 0.0.4 of Prometheus. Counters end in _total, sizes in _bytes and times in _seconds.
// Queues are told one by one, the first hundred of them; variables in sum.
//
//   # HELP pinion_steps_total Steps of the sessions that target this task.
//   # TYPE pinion_steps_total counter
//   pinion_steps_total 1204
std::string metrics_text(const task_report& of);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/status/metrics_text.ipp>
#endif
