// The parts of runs that have ended well on a task, and hold what they took from its queues until their runs end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/run_id.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A part that a task has computed may be given up all the same: where another task's part of that run fails, or its
// master is lost. So the task keeps, for each run that has taken something, the cancellation by which that goes back.
// Owned by a worker. Thread-safe. What was kept is told, and goes, without the lock.
class unsettled_parts {
 public:
  struct part {
    std::uint64_t channel = 0;                    // of the master that asked for the run; 0: the task's own
    std::shared_ptr<pinion::cancellation> holds;  // and whatever it needs
  };
  using which = std::function<bool(const run_id&, const part&)>;

  // Keeps a part. Of one too many of another task's master the oldest run of it counts as ended well.
  void keep(const run_id& run, part what);
  // Ends the wait of a run whose parts have all ended well: what it has taken stays taken. Returns what was kept of
  // it; nothing, if it did not wait.
  part settle(const run_id& run);
  // Ends the waits of runs that have failed, or are given up: then what they have taken goes back.
  void cancel(const run_id& run, cancellation::reason why);
  void cancel_if(const which& these, cancellation::reason why);
  std::size_t size() const;

 private:
  using parts = std::map<run_id, part>;
  static constexpr std::ptrdiff_t most = 1000;  // of one master
  parts taken_if(const which& these);

  mutable std::mutex mutex_;
  parts parts_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/unsettled_parts.ipp>
#endif
