// The deadlines of the runs of a master, which one timer watches: a run that ends in time costs no timer of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Owned by a master, and by its own coroutine until close(). Thread-safe.
class deadlines : public std::enable_shared_from_this<deadlines> {
 public:
  using entry = std::pair<time_point, std::uint64_t>;

  explicit deadlines(rpc::network& net) : net_(net) {}

  // Calls `late` once, in the network's thread, when that time has come, unless the entry was removed before.
  entry add(time_point when, std::function<void()> late);
  // Removes an entry. A call of it that has begun goes on.
  void remove(const entry& e);
  // Ends the watch; later entries are never late.
  void close();

 private:
  rpc::awaitable<void> watch(std::shared_ptr<deadlines> self);
  // Returns the time until which to sleep, or nothing where the watch ends.
  std::optional<time_point> next();
  std::map<entry, std::function<void()>> take_late();
  void wake();

  rpc::network& net_;
  std::unique_ptr<rpc::timer> timer_;  // used by the network's thread only
  std::mutex mutex_;
  std::map<entry, std::function<void()>> waiting_;
  std::uint64_t added_ = 0;
  std::optional<time_point> sleeps_until_;  // nothing: there is no watch
  bool closed_ = false;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/deadlines.ipp>
#endif
