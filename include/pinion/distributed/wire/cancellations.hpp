// How often the steps of a session were cancelled, and why: a call that began before meets it wherever it waits.
#pragma once

#include <mutex>
#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The cancellations of the steps of one session. Thread-safe.
class cancellations {
 public:
  void add(const error& why, time_point when = {}) {
    std::lock_guard hold(mutex_);
    ++count_;
    last_ = why;
    last_at_ = when;
  }
  int count() const {
    std::lock_guard hold(mutex_);
    return count_;
  }
  // Throws the reason of the last, if there were fewer before, and the last was no later than `until`.
  void expect_no_more_than(int before, time_point until = time_point::max()) const {
    std::lock_guard hold(mutex_);
    if (count_ != before && last_at_ <= until) throw *last_;
  }

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::optional<error> last_;
  time_point last_at_{};
};

}}}  // namespace pinion::v0::distributed
