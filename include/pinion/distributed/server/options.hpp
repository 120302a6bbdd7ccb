// The options of a server, and what it counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 {

struct server_config {
  int cpu_devices = 1;
  int inter_op_threads = 0;  // for nodes beside each other; 0: the cores of this machine shared by its tasks
  int intra_op_threads = 0;  // for loops inside a node; likewise
  any_placer placer = {};    // of the sessions that target this task
  std::vector<sim::accelerator> simulated = {};   // pretend accelerators: /gpu:0, /gpu:1, ...
  std::chrono::milliseconds heartbeat{1000};      // a peer that is silent for two is dead
  std::uint64_t credit = std::uint64_t{4} << 20;  // bytes that may be on the way to one peer
  std::chrono::milliseconds stop_timeout{10000};  // of stop(): what runs longer is named, and left to itself
};

struct server_options {
  std::string job = {};  // may be left out where the cluster has one job
  int task = 0;
  security_options security = {};
  server_config config = {};
};

// Counts since the start of a server, over all its connections.
struct traffic_counts {
  std::uint64_t bytes_sent = 0, bytes_received = 0, messages_sent = 0, messages_received = 0, requests = 0, writes = 0;
};

}}  // namespace pinion::v0
