// Counts the users of something that is to be stopped.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A counter of users, so that the thread that stops the used thing can wait for them up to a limit. Shared by all
// users. Thread-safe.
class users {
 public:
  // Counts as one user until it is destroyed.
  class one {
   public:
    explicit one(std::shared_ptr<users> of);
    one(const one&) = delete;
    ~one();

   private:
    const std::shared_ptr<users> of_;
  };

  // Returns false if there are users left at `until`.
  bool wait_until_none(time_point until);

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/users.ipp>
#endif
