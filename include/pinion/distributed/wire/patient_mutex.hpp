// A mutex for those who wait for another task while they hold it.
#pragma once

#include <memory>
#include <mutex>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Held by one call at a time, for as long as another task takes to answer it. The calls that come meanwhile wait within
// limits of their own. Thread-safe. Not for the network's thread.
class patient_mutex {
 public:
  // Holds the mutex while it lives; the mutex outlives it.
  class lock {
   public:
    // Waits until nobody else holds the mutex. Throws as the wait's options have it.
    lock(patient_mutex& of, rpc::network& net, const wait_options& how);
    lock(const lock&) = delete;
    ~lock();

   private:
    patient_mutex& of_;
  };

 private:
  // Returns null, and is held from then on; or what ends when its holder lets it go.
  std::shared_ptr<countdown> take();

  std::mutex mutex_;
  std::shared_ptr<countdown> held_;  // null: by nobody
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/patient_mutex.ipp>
#endif
