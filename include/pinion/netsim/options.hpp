// The behaviour of a simulated network: seed, latency, bandwidth, buffers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

using rpc::awaitable, rpc::byte_stream, rpc::duration, rpc::endpoint;

// The options of a simulation. Equal options and equal calls give equal events.
struct sim_options {
  std::uint64_t seed = 1;
  // latency of one direction
  duration min_latency = std::chrono::microseconds(50), max_latency = std::chrono::microseconds(500);
  std::uint64_t bytes_per_second = 0;          // bandwidth of each direction of a stream; 0: unlimited
  std::size_t max_chunk = 16 << 10;            // bytes travel, and are read, in chunks of 1 to this size
  unsigned whole_percent = 0;                  // share of writes whose bytes travel in one piece all the same
  std::size_t buffer = 256 << 10;              // see invariant 6 of sim_network.hpp
  unsigned write_now_percent = 0;              // share of write_now() calls that take bytes; half of those take all
  duration max_wait = std::chrono::hours(24);  // a wait without deadline throws after this virtual time
  bool keep_log = false;
};

}}}  // namespace pinion::v0::netsim
