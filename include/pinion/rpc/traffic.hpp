// Counters of the traffic of one task.
#pragma once

#include <atomic>
#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Counters that the connections of a server or session update, and any thread may read.
struct traffic {
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_received{0};
  std::atomic<std::uint64_t> messages_sent{0}, messages_received{0};
  std::atomic<std::uint64_t> writes{0};    // write calls to the system; one call may carry several messages
  std::atomic<std::uint64_t> requests{0};  // requests sent; each is a round trip

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1);
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/traffic.ipp>
#endif
