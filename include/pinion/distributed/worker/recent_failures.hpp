// The failures that a task has seen lately.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/distributed/report/task_report.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The last failures, for reports. A failure that comes again at once is counted and not kept twice. Thread-safe.
class recent_failures {
 public:
  static constexpr std::size_t most = 32;
  static constexpr std::size_t longest = 1000;  // bytes of a sentence that are kept

  void add(std::string sentence);
  // Adds the failure of a step, unless it only tells that a client has changed its mind, that its data has ended, or
  // that it came before the variables had values.
  void add_step(const error& why);
  std::vector<failure_report> list() const;

 private:
  mutable std::mutex mutex_;
  std::deque<failure_report> kept_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/recent_failures.ipp>
#endif
