// The traffic of a server.
#pragma once

#include <cstdint>

namespace pinion { inline namespace v0 {

// Traffic since the start of a server, over all its connections: bytes and messages in each direction, requests sent
// (each is a round trip), and write calls to the system, which several messages may share. A plain value.
//
//   const pn::traffic_counts before = server.traffic();
//   sess.run(train);
//   fmt::print("{} bytes a step\n", server.traffic().bytes_sent - before.bytes_sent);
struct traffic_counts {
  std::uint64_t bytes_sent = 0, bytes_received = 0, messages_sent = 0, messages_received = 0, requests = 0, writes = 0;
};

}}  // namespace pinion::v0
