// How a simulated network behaves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

using rpc::awaitable, rpc::byte_stream, rpc::duration, rpc::endpoint;

struct sim_options {
  std::uint64_t seed = 1;
  duration min_latency = std::chrono::microseconds(50), max_latency = std::chrono::microseconds(500);  // one way
  std::uint64_t bytes_per_second = 0;          // of each direction of a stream; 0: unlimited
  std::size_t max_chunk = 16 << 10;            // bytes travel, and are read, in chunks of 1 to this many
  std::size_t buffer = 256 << 10;              // invariant 6 of sim_network.hpp
  unsigned write_now_percent = 0;              // of the calls of write_now() that take something, half of them all
  duration patience = std::chrono::hours(24);  // a wait without a deadline that takes longer will never end
  bool keep_log = false;
};

}}}  // namespace pinion::v0::netsim
