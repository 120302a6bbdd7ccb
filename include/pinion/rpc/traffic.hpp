// What goes over the wires of one task, counted.
#pragma once

#include <atomic>
#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Written by the connections of a server or session; read by anybody.
struct traffic {
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_received{0};
  std::atomic<std::uint64_t> messages_sent{0}, messages_received{0};
  std::atomic<std::uint64_t> writes{0};    // calls that hand bytes to the system: messages share them
  std::atomic<std::uint64_t> requests{0};  // sent: each is a round trip

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1);
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/traffic.ipp>
#endif
