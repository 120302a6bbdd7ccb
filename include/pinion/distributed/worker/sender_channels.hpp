// The channels by which other tasks send values to this one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/distributed/worker/early_values.hpp>
#include <pinion/rpc/acceptor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Which there are, and since when. Owned by an exchange, under its lock. Not thread-safe.
class sender_channels {
 public:
  // Adds the channel of a task.
  void add(const rpc::peer& who, time_point now);
  // Since when a task has a channel to this one; time_point::max() if it has none.
  time_point since(const std::string& task) const;

  enum class removed { none, one, last_of_sender };
  // Forgets a channel. A sender is a task with its life and host, see early_values.
  removed remove(const rpc::peer& who);

 private:
  std::map<std::string, std::map<std::uint64_t, time_point>> of_task_;
  std::map<std::string, int> of_sender_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/sender_channels.ipp>
#endif
