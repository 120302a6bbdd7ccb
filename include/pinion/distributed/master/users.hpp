// Those who use something that is going to be stopped.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Counts them, so that whoever stops it can wait for them, but not for ever. Shared by all of them. Thread-safe.
class users {
 public:
  // One who uses it, until it goes.
  class one {
   public:
    explicit one(std::shared_ptr<users> of);
    one(const one&) = delete;
    ~one();

   private:
    const std::shared_ptr<users> of_;
  };

  // False where somebody still uses it then.
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
